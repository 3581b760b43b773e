"""Faults of what is installed: packages, their versions, drivers."""
