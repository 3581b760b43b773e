"""Faults between processes: workers, ranks, what is sent from one to another."""
