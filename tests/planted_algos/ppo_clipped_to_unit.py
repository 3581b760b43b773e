"""Actions are clipped to −1 … 1 whatever the bounds of the space (ACT-03)."""

ALGO = "ppo"
PATCH = {
    "rldebug.parts.distributions": [
        (
            "    array = np.minimum(np.maximum(_numpy(action), space.low), space.high)\n",
            "    array = np.minimum(np.maximum(_numpy(action), np.maximum(space.low, -1.0)), "
            "np.minimum(space.high, 1.0))\n",
        ),
    ],
    "rldebug.parts.heads": [],
}
RUNG = "bound-optimum"
EXPECT = "ACT007"
SUSPECT = "action-sampling"
CONTROLS = True
