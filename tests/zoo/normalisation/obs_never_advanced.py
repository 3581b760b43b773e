"""`obs = next_obs` is missing: the policy acts on the first observation for ever."""

BASE = "a2c"
REPLACE = [
    (
        "                obs = torch.from_numpy(next_obs)\n",
        "                next_obs = torch.from_numpy(next_obs)\n",
    ),
]
EXPECT = "NRM003"
TRAIN = {"updates": 150}
