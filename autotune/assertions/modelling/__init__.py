"""Models of programs that assert their counts: made of records, evaluated, written, studied."""
