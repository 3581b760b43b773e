"""The policy's head is fed a constant: it does not depend on what is seen."""

ALGO = "ppo"
REPLACE = [
    (
        "return self.output(features), self.value",
        "return self.output(torch.ones_like(features)), self.value",
    ),
    (
        "self.output(self.intake(obs))\n        return distribution",
        "self.output(torch.ones_like(self.intake(obs)))\n        return distribution",
    ),
]
RUNG = "observed-action-reward"
EXPECT = "NET008"
SUSPECT = "network"
ALSO = {
    "preprocessing": "where the observation is lost on the policy's side is not seen from outside",
}
CONTROLS = True
