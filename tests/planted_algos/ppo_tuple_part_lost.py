"""Of a tuple only the first part is read, twice."""

ALGO = "ppo"
PATCH = {
    "rldebug.parts.heads": [
        (
            "torch.cat([part(obs[key]) for key, part in zip(self.keys, self.parts, strict=True)], -1)",
            "torch.cat([part(obs[0 if isinstance(key, int) else key]) for key, part in "
            "zip(self.keys, self.parts, strict=True)], -1)",
        ),
    ],
}
RUNG = "tuple-observation"
EXPECT = "PRE011"
SUSPECT = "preprocessing"
CONTROLS = True
