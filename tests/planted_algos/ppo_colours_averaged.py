"""Colours are averaged to grey where channels come last (PRE-02)."""

ALGO = "ppo"
PATCH = {
    "rldebug.parts.heads": [
        (
            "            image = image.permute(0, 3, 1, 2)\n",
            "            image = image.permute(0, 3, 1, 2)\n"
            "            image = image.float().mean(1, keepdim=True).expand(image.shape)\n",
        ),
    ],
}
RUNG = "channel-order"
EXPECT = "PRE013"
SUSPECT = "preprocessing"
CONTROLS = True
