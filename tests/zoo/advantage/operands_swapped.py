"""The advantage is value − return."""

BASE = "a2c"
REPLACE = [("advantage = target - value.detach()", "advantage = value.detach() - target")]
EXPECT = "ADV003"
TRAIN = {"updates": 60}
