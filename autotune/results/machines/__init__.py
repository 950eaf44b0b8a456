"""Machines and hosts as text and document."""
