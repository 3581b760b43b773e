"""Targets are computed with gradients: the value loss reaches the target network."""

BASE = "dqn"
REPLACE = [
    ("            with torch.no_grad():\n                next_q", "            if True:\n                next_q")
]
EXPECT = "TGT004"
ACCEPT = ("GRA006",)  # the same missing no_grad, seen where the target is handed over
TRAIN = {"updates": 60}
