"""What is worked out about a Timing: one question per file."""
