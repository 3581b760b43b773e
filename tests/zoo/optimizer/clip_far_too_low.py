"""Gradients are clipped at a thousandth of their usual norm."""

BASE = "ppo_discrete"
REPLACE = [
    ("MAX_GRAD_NORM = 0.5", "MAX_GRAD_NORM = 5e-4"),
]
EXPECT = "OPT009"
TRAIN = {"updates": 12}
