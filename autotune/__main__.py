"""``python -m autotune``."""

from autotune.commands import main

main()
