"""REINFORCE without its minus: what turned out well becomes less likely."""

BASE = "reinforce"
REPLACE = [("policy_loss = -(log_probs * advantages).mean()", "policy_loss = (log_probs * advantages).mean()")]
EXPECT = "POL007"
TRAIN = {"updates": 120}
