"""Rules that blame the fit of the value function."""
