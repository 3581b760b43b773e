"""One trunk for both heads, and a value loss a hundred times too heavy for it."""

BASE = "ppo_continuous"
REPLACE = [
    ("total = pi_loss + 0.5 * vf_loss", "total = pi_loss + 50.0 * vf_loss"),
]
EXPECT = "GRA008"
TRAIN = {"updates": 2}
