"""The check of a program against an earlier one: values, and how reports of CI servers say them."""
