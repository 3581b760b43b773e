"""What component files share, or what would make them too long: cases, names of arguments, lists of mistakes."""
