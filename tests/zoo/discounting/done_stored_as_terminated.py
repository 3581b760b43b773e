"""The buffer stores `terminated or truncated` as terminated: a time limit counts as the end of all reward."""

BASE = "ppo_continuous"
REPLACE = [
    (
        "next_obs, terminated, truncated, value, logp)\n            self.obs",
        "next_obs, terminated or truncated, False, value, logp)\n            self.obs",
    ),
]
EXPECT = "DIS006"
TRAIN = {"updates": 5}
