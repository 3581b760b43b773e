"""The page, one section per file, in the order of shelf.py."""
