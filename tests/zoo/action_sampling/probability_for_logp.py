"""The log is missing: what is stored as log-prob is the probability of the action."""

BASE = "a2c"
REPLACE = [("logp = F.log_softmax(logits, dim=-1)", "logp = F.softmax(logits, dim=-1)")]
EXPECT = "ACT003"
TRAIN = {"updates": 100}
