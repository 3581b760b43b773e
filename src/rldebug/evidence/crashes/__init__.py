"""What lies in the frames of a failed program, and what its traceback says: looked at once, while they are alive."""
