"""The log-probs are averaged before they are multiplied with the advantages: no step gets credit of its own."""

BASE = "reinforce"
REPLACE = [("policy_loss = -(log_probs * advantages).mean()", "policy_loss = -(log_probs.mean() * advantages).mean()")]
EXPECT = "POL008"
TRAIN = {"updates": 120}
