"""Each transition holds the reward of the step before (BUF-25)."""

ALGO = "dqn"
REPLACE = [
    (
        "replay.add(obs, action, reward, true_next",
        "replay.add(obs, action, late, true_next",
    ),
    (
        "                obs = next_obs\n            step",
        "                obs, late = next_obs, reward\n            step",
    ),
    (
        "    per_round = settings.train_every * settings.envs  # environment steps\n",
        "    per_round = settings.train_every * settings.envs  # environment steps\n"
        "    late = np.zeros(settings.envs, np.float32)\n",
    ),
]
RUNG = "observed-reward"
EXPECT = "VAL011"
SUSPECT = "buffer"
ALSO = {
    "value-loss": "without a policy of its own, rewards of other steps and a loss that broadcasts look the same",
}
