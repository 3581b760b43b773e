"""The entropy coefficient is annealed in the wrong direction, from below 0 to 2: the policy commits, then unlearns."""

BASE = "ppo_discrete"
REPLACE = [
    ("+ ENT_COEF * entropy_loss", "+ (-0.5 if _update < 6 else 2.0) * entropy_loss"),
    ("LR = 1e-3", "LR = 3e-3"),
]
EXPECT = "ENT004"
TRAIN = {"updates": 22}
