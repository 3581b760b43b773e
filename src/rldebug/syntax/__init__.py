"""What a program's text says, as pure functions of a Source: who is bound to what, where it comes from, what it is."""
