"""The last layer of the policy is initialised with a gain of 100 instead of 0.01."""

BASE = "ppo_discrete"
REPLACE = [("layer(64, n_actions, gain=0.01)", "layer(64, n_actions, gain=100)")]
EXPECT = "ENT005"
TRAIN = {"updates": 20}
