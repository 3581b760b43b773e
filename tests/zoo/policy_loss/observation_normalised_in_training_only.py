"""Observations are normalised over the batch in the update, but not when acting."""

BASE = "a2c"
REPLACE = [
    ("actor(batch[\"obs\"][valid])",
     "actor((batch[\"obs\"][valid] - batch[\"obs\"].mean((0, 1))) / (batch[\"obs\"].std((0, 1)) + 1e-8))"),
]  # fmt: skip
EXPECT = "POL005"
TRAIN = {"updates": 150}
