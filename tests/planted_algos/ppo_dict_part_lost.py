"""Of a dict only the first key is read, twice."""

ALGO = "ppo"
PATCH = {
    "rldebug.parts.heads": [
        (
            "torch.cat([part(obs[key]) for key, part in zip(self.keys, self.parts, strict=True)], -1)",
            "torch.cat([part(obs[self.keys[0]]) for part in self.parts], -1)",
        ),
    ],
}
RUNG = "dict-observation"
EXPECT = "PRE011"
SUSPECT = "preprocessing"
CONTROLS = True
