"""Advantages are flattened environment first, everything else time first."""

BASE = "ppo_discrete"
REPLACE = [("flat_advantage = advantage_buf.reshape(-1)", "flat_advantage = advantage_buf.T.reshape(-1)")]
EXPECT = "ADV004"
TRAIN = {"updates": 25}
