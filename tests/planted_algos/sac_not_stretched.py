"""Actions stay within −1 … 1 whatever the bounds (ACT-03)."""

ALGO = "sac"
PATCH = {
    "rldebug.parts.distributions": [
        (
            "torch.addcmul(self.centre, self.reach, u.tanh())",
            "u.tanh()",
        ),
        (
            "torch.addcmul(self.centre, self.reach, self.mean.tanh())",
            "self.mean.tanh()",
        ),
    ],
    "rldebug.parts.heads": [],
}
RUNG = "bound-optimum"
EXPECT = "ACT007"
SUSPECT = "action-sampling"
