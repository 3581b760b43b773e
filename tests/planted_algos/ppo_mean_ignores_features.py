"""The mean of a Gaussian does not depend on the features: only its bias learns."""

ALGO = "ppo"
PATCH = {
    "rldebug.parts.heads": [
        (
            "return Gaussian(_shaped(wide(self.linear(features)), self.space.shape), self.log_std, self.space)",
            "return Gaussian(_shaped(wide(self.linear(torch.ones_like(features))), "
            "self.space.shape), self.log_std, self.space)",
        ),
    ],
}
RUNG = "observed-number"
EXPECT = "NET009"
SUSPECT = "network"
ALSO = {
    "policy-loss": "a policy that does not use what it sees, for whatever reason",
    "action-sampling": "it is the head that draws numbers",
}
CONTROLS = True
