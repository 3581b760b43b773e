"""After every step the logger sends the whole history of the run once more, and the loop waits for it."""

BASE = "a2c"
REPLACE = [
    ("import itertools\n", "import itertools\nimport time\n"),
    ("    finished, score = [], np.zeros(N_ENVS)\n", "    finished, score, history = [], np.zeros(N_ENVS), []\n"),
    (
        "                obs = torch.from_numpy(next_obs)\n",
        "                obs = torch.from_numpy(next_obs)\n"
        "                history.append(reward)\n"
        "                time.sleep(2e-4 * len(history))\n",
    ),
]
EXPECT = "PRF001"
TRAIN = {"updates": 30}
WALL_CLOCK = True
