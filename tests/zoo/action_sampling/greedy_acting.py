"""The most likely action is taken instead of a sample, and its log-prob stored as if it had been drawn."""

BASE = "ppo_discrete"
REPLACE = [("action = dist.sample()", "action = dist.probs.argmax(-1)")]
EXPECT = "ACT001"
TRAIN = {"updates": 30}
