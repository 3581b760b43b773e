"""Targets are rescaled by a square root that forgets their sign: the root of −1."""

ALGO = "ppo"
REPLACE = [
    (
        '"target": target.flatten()}',
        '"target": target.flatten().sqrt().square()}',
    ),
]
RUNG = "observed-reward"
EXPECT = "NET010"
SUSPECT = "network"
ALSO = {
    "value-loss": "NaN tells that it is, not where it begins",
    "normalisation": "rescaling targets is a normalisation",
}
