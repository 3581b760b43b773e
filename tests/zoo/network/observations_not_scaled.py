"""Observations in the ten thousands drive every tanh to a bound."""

BASE = "a2c"
REPLACE = [
    (
        "        obs = torch.from_numpy(envs.reset(seed=seed)[0])\n",
        "        obs = 1e4 * torch.from_numpy(envs.reset(seed=seed)[0])\n",
    ),
    (
        "                obs = torch.from_numpy(next_obs)\n",
        "                obs = 1e4 * torch.from_numpy(next_obs)\n",
    ),
]
EXPECT = "NET004"
ACCEPT = ("NET003",)  # a tanh at its bound passes no gradient on: the same units, seen from the other side
TRAIN = {"updates": 120, "env_id": "Acrobot-v1"}
