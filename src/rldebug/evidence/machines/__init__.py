"""What there is to know about a machine, one thing per file; what may crash is tried in a process of its own."""
