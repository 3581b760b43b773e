"""The advantage keeps a trailing axis: (N,) times (N, 1) is (N, N), whose mean has lost which action paid."""

BASE = "a2c"
REPLACE = [("advantage = target - value.detach()", "advantage = (target - value.detach())[:, None]")]
EXPECT = "POL008"
TRAIN = {"updates": 200}
