"""Foreign libraries, one per file: each is imported only there, and only when it is asked for."""
