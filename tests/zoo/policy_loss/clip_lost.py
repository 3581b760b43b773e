"""Both branches of the surrogate are the unclipped one."""

BASE = "ppo_continuous"
REPLACE = [("clipped = ratio.clamp(1.0 - self.clip, 1.0 + self.clip) * adv", "clipped = ratio * adv")]
EXPECT = "POL006"
TRAIN = {"updates": 8}
