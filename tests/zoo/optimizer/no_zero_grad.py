"""Gradients are never cleared: every step applies the sum of all gradients so far."""

BASE = "a2c"
REPLACE = [
    ("            actor_opt.zero_grad()\n", ""),
]
EXPECT = "OPT008"
TRAIN = {"updates": 150}
