"""The baseline's learning rate is ten times too high and Adam's betas are swapped: it overshoots again and again."""

BASE = "reinforce"
REPLACE = [
    ("optim.Adam(baseline.parameters(), lr=1e-2)", "optim.Adam(baseline.parameters(), lr=1e-1, betas=(0.99, 0.9))")
]
EXPECT = "VAL003"
TRAIN = {"updates": 80}
