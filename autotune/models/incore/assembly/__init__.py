"""Assembly text read into instructions, blocks, loops and passes."""
