"""This host: what it says about itself, and what is measured where it does not."""
