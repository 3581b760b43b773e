"""The row holds the observation after the action: an array that the environment reuses (BUF-01)."""

ALGO = "ppo"
REPLACE = [
    (
        "buffer.add(obs=obs, action",
        "buffer.add(obs=next_obs, action",
    ),
]
RUNG = "observed-reward"
EXPECT = "BUF012"
SUSPECT = "buffer"
