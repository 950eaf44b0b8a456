"""Results as text, JSON and one HTML page; figure data apart from drawing."""
