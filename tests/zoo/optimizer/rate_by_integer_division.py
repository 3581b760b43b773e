"""The learning rate comes out of an integer division: 0."""

BASE = "reinforce"
REPLACE = [
    ("optim.Adam(policy.parameters(), lr=2e-3)", "optim.Adam(policy.parameters(), lr=2 // 1000)"),
]
EXPECT = "OPT003"
TRAIN = {"updates": 40}
