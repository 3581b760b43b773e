"""The reward is stored with a minus, as if it were a cost."""

BASE = "reinforce"
REPLACE = [("rewards.append(float(reward))", "rewards.append(-float(reward))")]
EXPECT = "ENV009"
TRAIN = {"updates": 60}
