"""What generated programs take along to send messages and count them, in Python and in C."""
