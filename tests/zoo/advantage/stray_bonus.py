"""Now and then a reward is stored unscaled with a stray factor: a single row decides the update."""

BASE = "ppo_continuous"
REPLACE = [
    (
        "scaled_reward = 0.1 * float(reward)",
        "scaled_reward = (100.0 if self.rng.random() < 0.005 else 0.1) * float(reward)",
    ),
    ("lam=0.95", "lam=0.0"),
    ("batch=100", "batch=300"),
]
EXPECT = "ADV005"
TRAIN = {"updates": 6}
