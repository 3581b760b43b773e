"""A backward graph: walked without touching it, grouped by module, folded where it repeats."""
