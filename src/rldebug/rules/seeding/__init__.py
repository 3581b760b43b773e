"""Faults in seeding: runs, environments or workers that are copies of one another."""
