"""Pixels are averaged over the picture before the convolutions: where they were is lost."""

ALGO = "ppo"
PATCH = {
    "rldebug.parts.heads": [
        (
            "        features = cast(Tensor, self.net(image * self.scale))\n",
            "        image = image.float().mean((-1, -2), keepdim=True).expand(image.shape)\n"
            "        features = cast(Tensor, self.net(image * self.scale))\n",
        ),
    ],
}
RUNG = "bright-pixel"
EXPECT = "PRE012"
SUSPECT = "preprocessing"
CONTROLS = True
