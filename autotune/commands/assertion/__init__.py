"""What programs assert of themselves: the commands of ``autotune assert``."""
