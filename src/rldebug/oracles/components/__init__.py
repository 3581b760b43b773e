"""One component per file: its reference, the same with every known mistake as a switch, its cases and its names."""
