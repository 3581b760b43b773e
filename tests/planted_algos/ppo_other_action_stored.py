"""A second sample is stored: not the action that was played, nor its probability (ACT-01)."""

ALGO = "ppo"
REPLACE = [
    (
        "buffer.add(obs=obs, action=action,",
        "buffer.add(obs=obs, action=policy.sample(),",
    ),
]
RUNG = "action-reward"
EXPECT = "POL015"
SUSPECT = "policy-loss"
ALSO = {
    "action-sampling": "the action stored is not the one played",
    "buffer": "the row pairs the action of one draw with the reward of another",
}
