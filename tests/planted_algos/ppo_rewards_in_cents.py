"""Rewards are rounded to two decimals on their way into the buffer."""

ALGO = "ppo"
REPLACE = [
    (
        "action=action, reward=reward,",
        "action=action, reward=np.round(reward, 2),",
    ),
]
RUNG = "small-reward"
EXPECT = "NRM011"
SUSPECT = "normalisation"
ALSO = {
    "buffer": "it is the buffer that rounds",
}
CONTROLS = True
