"""Every environment gets the same seed, and the action drawn for the first is sent to all of them."""

BASE = "ppo_discrete"
REPLACE = [
    ("obs, _ = envs.reset(seed=seed)", "obs, _ = envs.reset(seed=[seed] * NUM_ENVS)"),
    ("action = dist.sample()", "action = dist.sample()[:1].expand(NUM_ENVS)"),
]
EXPECT = "SEE001"
TRAIN = {"updates": 12}
