"""Faults in the environment, or in how it is driven."""
