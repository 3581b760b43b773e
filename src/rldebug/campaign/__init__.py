"""Campaigns: a list of tasks, done by many processes, that goes on where it was stopped."""
