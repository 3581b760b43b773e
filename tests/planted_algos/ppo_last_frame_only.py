"""Of a stack of frames the last is copied over the others (BUF-03)."""

ALGO = "ppo"
PATCH = {
    "rldebug.parts.heads": [
        (
            "        row = obs.flatten(-self.dims) if self.dims else obs.unsqueeze(-1)\n",
            "        obs = obs[..., -1:, :, :, :].expand(obs.shape) if self.dims == 4 else obs\n"
            "        row = obs.flatten(-self.dims) if self.dims else obs.unsqueeze(-1)\n",
        ),
    ],
}
RUNG = "moving-dot"
EXPECT = "PRE015"
SUSPECT = "preprocessing"
CONTROLS = True
