"""Rules that blame the autograd graph."""
