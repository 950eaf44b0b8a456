"""Out into the application: what was chosen as C header, wisdom file, T4, CSV, Parquet."""
