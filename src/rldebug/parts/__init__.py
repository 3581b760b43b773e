"""Building blocks, to be imported one by one: each fast, and each with a slow, obvious twin in the tests."""
