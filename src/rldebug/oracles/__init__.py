"""Oracles: for each component a slow, obvious reference, small cases, and the known mistakes by name."""
