"""Rules that blame rewards-to-go, discounting and the handling of episode ends."""
