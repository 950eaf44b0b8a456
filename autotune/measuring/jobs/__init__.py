"""Job folders for a batch system, and the results that come back from them."""
