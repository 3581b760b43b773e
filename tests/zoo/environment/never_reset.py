"""The loop never resets the environment after an end: it goes on stepping an episode that is over."""

BASE = "sac_like"
REPLACE = [
    ("                total = 0.0\n                obs, _ = env.reset()\n", "                total = 0.0\n"),
]
EXPECT = "ENV003"
TRAIN = {"updates": 400}
