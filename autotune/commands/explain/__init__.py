"""``autotune explain``: words of the output and messages of errors, in plain sentences."""
