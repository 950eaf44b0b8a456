"""Assembly text, parsed into instructions, basic blocks, loops and passes."""
