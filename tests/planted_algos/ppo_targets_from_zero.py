"""Value targets are built from an advantage field that is still zero: the old value itself (ADV-04)."""

ALGO = "ppo"
REPLACE = [
    (
        '"target": target.flatten()}',
        '"target": value.flatten()}',
    ),
]
RUNG = "constant-reward"
EXPECT = "VAL010"
SUSPECT = "value-loss"
ALSO = {
    "advantage": "the targets are made where the advantages are; from outside the critic has no reason to move",
}
