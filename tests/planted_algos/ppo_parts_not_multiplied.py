"""Of several choices at once only the first has a probability (ACT)."""

ALGO = "ppo"
PATCH = {
    "rldebug.parts.distributions": [
        (
            "    return each.sum(-1) if dims == 1 else each.flatten(-dims).sum(-1)\n",
            "    return each[..., 0]\n",
        ),
    ],
    "rldebug.parts.heads": [],
}
RUNG = "multi-discrete-action"
EXPECT = "ACT010"
SUSPECT = "action-sampling"
CONTROLS = True
