"""Models against one another and against analytical ones."""
