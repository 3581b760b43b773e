"""A time limit counts as an end: nothing is added for the rest (ADV-15)."""

ALGO = "ppo"
REPLACE = [
    (
        'value,\n                batch["terminated"],\n                batch["truncated"],\n',
        'value,\n                batch["terminated"] | batch["truncated"],\n                batch["truncated"],\n',
    ),
]
RUNG = "truncated-episode"
EXPECT = "DIS013"
SUSPECT = "discounting"
CONTROLS = True
