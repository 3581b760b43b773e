"""What the returns themselves say."""
