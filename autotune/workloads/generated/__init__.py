"""What workloads of generated code have in common."""
