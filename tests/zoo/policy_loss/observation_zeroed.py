"""A line left over from a test feeds zeros to the policy instead of the observation."""

BASE = "reinforce"
REPLACE = [("x = torch.tanh(self.hidden(x))", "x = torch.tanh(self.hidden(torch.zeros_like(x)))")]
EXPECT = "POL010"
TRAIN = {"updates": 120}
