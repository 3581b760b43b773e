"""The step is ten times too long, and the line search asks only whether the surrogate improved: it accepts it."""

BASE = "trpo"
REPLACE = [
    (
        "torch.sqrt(2 * MAX_KL / (direction @ hvp(direction) + 1e-12))",
        "torch.sqrt(200 * MAX_KL / (direction @ hvp(direction) + 1e-12))",
    ),
    ("        if gain > 0 and kl <= MAX_KL:", "        if gain > 0:"),
]
EXPECT = "POL012"
TRAIN = {"updates": 7}
