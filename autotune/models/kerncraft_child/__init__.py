"""The program that runs kerncraft in a separate process; the package never imports it."""
