"""The entropy coefficient is 100 instead of 0.01: the policy is held at uniform and learns nothing."""

BASE = "ppo_discrete"
REPLACE = [("ENT_COEF = 0.01", "ENT_COEF = 100.0")]
EXPECT = "ENT002"
TRAIN = {"updates": 28}
