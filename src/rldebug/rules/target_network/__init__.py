"""Rules that blame the copy that bootstrapped targets come from."""
