"""Pixels are divided by 255 before they become floats: all but the brightest are 0 (PRE-04)."""

ALGO = "ppo"
PATCH = {
    "rldebug.parts.heads": [
        (
            "self.net(image * self.scale)",
            "self.net((image.float() * self.scale + 1e-4).floor())",
        ),
    ],
}
RUNG = "uint8-range"
EXPECT = "PRE014"
SUSPECT = "preprocessing"
CONTROLS = True
