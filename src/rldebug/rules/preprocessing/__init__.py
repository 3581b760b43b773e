"""Faults between the environment and the network."""
