"""What a run recorded: files of ranks, and all ranks of a run together."""
