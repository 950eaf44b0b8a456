"""Export of choices and results: C header, wisdom file, T4, CSV, Parquet."""
