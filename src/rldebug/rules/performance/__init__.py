"""Time and memory that go where they should not."""
