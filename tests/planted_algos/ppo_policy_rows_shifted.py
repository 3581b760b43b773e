"""The policy sees the observations of the row before, the critic its own."""

ALGO = "ppo"
REPLACE = [
    (
        '                policy, value = model(mb["obs"])\n',
        '                _, value = model(mb["obs"])\n                policy, _ = model(mb["obs"].roll(1, 0))\n',
    ),
]
RUNG = "observed-action-reward"
EXPECT = "POL016"
SUSPECT = "policy-loss"
ALSO = {
    "buffer": "rows of observations and actions are not of one step",
}
