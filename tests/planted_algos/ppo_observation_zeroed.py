"""Observations are lost before the networks (PRE-05: a mask over the wrong slice)."""

ALGO = "ppo"
REPLACE = [
    (
        "        obs = obs if self.norm is None else self.norm(obs)\n        features = self.intake(obs)\n",
        "        obs = torch.zeros_like(obs)\n        features = self.intake(obs)\n",
    ),
    (
        "        obs = obs if self.norm is None else self.norm(obs)\n        distribution",
        "        obs = torch.zeros_like(obs)\n        distribution",
    ),
]
RUNG = "observed-reward"
EXPECT = "PRE010"
SUSPECT = "preprocessing"
