"""One family of metrics per file: pure functions from what the loop handed over to numbers."""
