"""Rules that blame the entropy of the policy."""
