"""The next observation is the first of the next episode (BUF-05)."""

ALGO = "dqn"
REPLACE = [
    (
        "replay.add(obs, action, reward, true_next(next_obs, info),",
        "replay.add(obs, action, reward, next_obs,",
    ),
]
RUNG = "unequal-episodes"
EXPECT = "BUF009"
SUSPECT = "buffer"
