"""The means of finding a bug, one per file: the commands a user would type for a program."""
