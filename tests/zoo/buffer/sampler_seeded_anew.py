"""The generator that draws a batch is made anew, with the same seed, for every batch."""

BASE = "sac_like"
REPLACE = [
    (
        "picks = torch.as_tensor(rng.integers(step + 1, size=BATCH))",
        "picks = torch.as_tensor(np.random.default_rng(seed).integers(WARMUP, size=BATCH))",
    ),
]
EXPECT = "BUF004"
TRAIN = {"updates": 400}
