"""Parses assembly text into instructions, basic blocks, loops and passes."""
