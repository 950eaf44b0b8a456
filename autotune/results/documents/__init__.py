"""The JSON documents of the commands: one function each, its fields documented beside it.

Every document begins with ``"schema": "autotune.<command>/1"``. Times are in seconds per time
step, sizes in bytes, clocks in hertz; null stands for what is not known. Within a schema number
fields are only added.
"""

Plain = str | int | float | bool | None
"""The value of a parameter."""
