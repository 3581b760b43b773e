"""The entropy term is minimised instead of maximised, and outweighs the advantage: the policy commits at once."""

BASE = "ppo_discrete"
REPLACE = [
    ("entropy_loss = -dist.entropy().mean()", "entropy_loss = dist.entropy().mean()"),
    ("ENT_COEF = 0.01", "ENT_COEF = 20.0"),
    ("LR = 1e-3", "LR = 5e-3"),
]
EXPECT = "ENT001"
TRAIN = {"updates": 30}
