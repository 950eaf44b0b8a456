"""Programs and traces that send the messages of a model."""
