"""The surrogate lost its clip, the gradient its bound, and the learning rate is high: ratios leave all bounds."""

BASE = "ppo_continuous"
REPLACE = [
    ("clipped = ratio.clamp(1.0 - self.clip, 1.0 + self.clip) * adv", "clipped = ratio * adv"),
    ("lr=1.5e-3", "lr=2e-2"),
    ("max_norm=0.5", "max_norm=1e9"),
]
EXPECT = "POL009"
TRAIN = {"updates": 8}
