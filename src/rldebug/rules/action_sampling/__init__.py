"""Rules that blame the way actions are drawn."""
