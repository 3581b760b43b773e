"""The value loss squares the sum of prediction and return instead of their difference."""

BASE = "reinforce"
REPLACE = [("baseline_loss = (predicted - returns)", "baseline_loss = (predicted + returns)")]
EXPECT = "VAL007"
TRAIN = {"updates": 80}
