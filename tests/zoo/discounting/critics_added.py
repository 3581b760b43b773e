"""The two target critics are added instead of the smaller one being taken: the target doubles what it bootstraps."""

BASE = "sac_like"
REPLACE = [("target_q = torch.min(*critic_target(s2, a2))", "target_q = sum(critic_target(s2, a2))")]
EXPECT = "DIS003"
TRAIN = {"updates": 550}
