"""Faults in the rollout or replay buffer: what is stored, and what comes out of it."""
