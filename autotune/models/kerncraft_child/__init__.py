"""The program that runs kerncraft: a process of its own, never imported by the package."""
