"""Programs outside this one: compilers, the build cache, process groups with limits, launchers."""
