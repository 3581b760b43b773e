"""The minus in front of the clipped surrogate is missing: the optimizer makes it smaller."""

BASE = "ppo_discrete"
REPLACE = [("policy_loss = -torch.min(", "policy_loss = torch.min(")]
EXPECT = "POL007"
TRAIN = {"updates": 20}
