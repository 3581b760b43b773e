"""`done` is stored as terminated and as truncated."""

BASE = "a2c"
REPLACE = [
    (
        'rows["terminated"].append(torch.from_numpy(terminated))',
        'rows["terminated"].append(torch.from_numpy(terminated | truncated))',
    ),
    (
        'rows["truncated"].append(torch.from_numpy(truncated & ~terminated))',
        'rows["truncated"].append(torch.from_numpy(terminated | truncated))',
    ),
]
EXPECT = "DIS007"
TRAIN = {"updates": 60}
