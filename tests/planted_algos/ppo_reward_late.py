"""Each row holds the reward of the step before (BUF-25)."""

ALGO = "ppo"
REPLACE = [
    (
        "reward=reward, terminated=terminated, truncated=truncated)\n",
        "reward=late, terminated=terminated, truncated=truncated)\n                late = reward\n",
    ),
    (
        "        buffer.clear()\n        cut_off",
        "        buffer.clear()\n"
        "        late = np.zeros(settings.envs, np.float32) if run.iteration == 0 else late\n"
        "        cut_off",
    ),
]
RUNG = "observed-reward"
EXPECT = "BUF011"
SUSPECT = "buffer"
