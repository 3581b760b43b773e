"""Rules that blame exploration."""
