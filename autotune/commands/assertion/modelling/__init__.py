"""Models of programs that assert their counts: the commands, what they do, what they print."""
