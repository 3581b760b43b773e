"""Nothing is stored once the first thousand transitions are there (BUF-24)."""

ALGO = "dqn"
REPLACE = [
    (
        "                replay.add(obs, action, reward, true_next(next_obs, info), terminated, truncated)\n",
        "                if len(replay) < 1000:\n"
        "                    replay.add(obs, action, reward, true_next(next_obs, info), "
        "terminated, truncated)\n",
    ),
]
RUNG = "shifting-reward"
EXPECT = "BUF016"
SUSPECT = "buffer"
CONTROLS = True
