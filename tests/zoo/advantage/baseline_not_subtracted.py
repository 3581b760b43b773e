"""The advantage is the return: the baseline is learned and never subtracted."""

BASE = "a2c"
REPLACE = [("advantage = target - value.detach()", "advantage = target.clone()")]
EXPECT = "ADV001"
TRAIN = {"updates": 400}
