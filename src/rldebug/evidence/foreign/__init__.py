"""Runs that were never watched, from the logs they left: one kind of log per file; arrange.py makes a Run of it."""
