"""Documents that several commands print; other documents are in the folder of their command.

A document is a frozen class whose fields are its JSON keys (``files/codec.py``). Its first field is
``schema``: ``autotune.<command>/1``. Times are in seconds per time step, sizes in bytes, clocks in
hertz; null means unknown. ``commands/documents.py`` lists all of them.
"""
