"""Faults of what is saved, and of what becomes of it when it is loaded."""
