"""Rules that blame the network."""
