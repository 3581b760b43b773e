"""The value loss is maximised: the critic runs away from its targets."""

BASE = "reinforce"
REPLACE = [("                baseline_loss.backward()", "                (-baseline_loss).backward()")]
EXPECT = "VAL004"
TRAIN = {"updates": 80}
