"""Rules that blame the weights of the policy gradient."""
