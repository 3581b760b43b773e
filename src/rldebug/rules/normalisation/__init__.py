"""Faults in the scale of what networks see and are asked for."""
