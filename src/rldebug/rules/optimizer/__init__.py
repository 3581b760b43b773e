"""Rules that blame the optimizer."""
