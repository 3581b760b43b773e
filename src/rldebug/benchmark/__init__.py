"""The bug benchmark: programs with one bug each and programs with none, and what each means makes of them."""
