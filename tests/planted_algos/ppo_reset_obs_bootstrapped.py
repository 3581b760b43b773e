"""A cut-off episode is continued with the first observation of the next one (BUF-05)."""

ALGO = "ppo"
REPLACE = [
    (
        'cut_off.append((t, i, info["final_obs"][i]))',
        "cut_off.append((t, i, next_obs[i]))",
    ),
]
RUNG = "unequal-episodes"
EXPECT = "BUF009"
SUSPECT = "buffer"
CONTROLS = True
