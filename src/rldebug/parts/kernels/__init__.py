"""Loops compiled by numba, once, and cached. Imported where they are called: nothing else here needs numba."""
