"""Documents that several commands print; the document of one command lies beside that command.

A document is a frozen class whose fields are its JSON keys (``files/codec.py``). Its first field
is ``schema``: ``autotune.<command>/1``. Times are in seconds per time step, sizes in bytes, clocks
in hertz; null stands for what is not known. ``commands/documents.py`` lists all of them.
"""
