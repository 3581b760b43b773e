"""Rules that blame the policy loss."""
