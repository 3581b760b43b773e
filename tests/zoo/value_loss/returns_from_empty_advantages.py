"""Returns are built from an advantage buffer that is still zero, so the targets are the old predictions."""

BASE = "ppo_discrete"
REPLACE = [("return_buf = advantage_buf + value_buf", "return_buf = torch.zeros_like(advantage_buf) + value_buf")]
EXPECT = "VAL002"
ACCEPT = ("GRA002",)  # a value loss of 0 has no gradient
TRAIN = {"updates": 5}
