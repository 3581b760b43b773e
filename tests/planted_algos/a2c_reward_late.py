"""Each row holds the reward of the step before (BUF-25)."""

ALGO = "a2c"
REPLACE = [
    (
        "reward=reward, terminated=terminated, truncated=truncated)\n",
        "reward=late, terminated=terminated, truncated=truncated)\n                    late = reward\n",
    ),
    (
        "    updates = max(1, ITERATION // rows)\n",
        "    updates = max(1, ITERATION // rows)\n    late = np.zeros(settings.envs, np.float32)\n",
    ),
]
RUNG = "observed-reward"
EXPECT = "BUF011"
SUSPECT = "buffer"
