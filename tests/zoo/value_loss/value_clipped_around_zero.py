"""The prediction itself is clipped to ± the clip range, instead of its distance from the old one."""

BASE = "ppo_continuous"
REPLACE = [("vf_loss = F.mse_loss(value, target)", "vf_loss = F.mse_loss(value.clamp(-self.clip, self.clip), target)")]
EXPECT = "VAL006"
TRAIN = {"updates": 10}
