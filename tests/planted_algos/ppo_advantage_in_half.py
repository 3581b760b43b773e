"""Advantages are normalised in half precision: squares of a thousand overflow."""

ALGO = "ppo"
REPLACE = [
    (
        "adv = (adv - adv.mean()) / (adv.std() + 1e-8)",
        "adv = (adv - adv.mean()) / ((adv.half() - adv.half().mean()).square().mean().sqrt().float() + 1e-8)",
    ),
]
RUNG = "large-reward"
EXPECT = "NRM010"
SUSPECT = "normalisation"
ALSO = {
    "advantage": "it is the advantage that is normalised wrongly",
}
CONTROLS = True
