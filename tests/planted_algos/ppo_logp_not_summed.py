"""The log-probability of a Gaussian is not summed over the action's numbers: (N, 1) (ACT-06)."""

ALGO = "ppo"
PATCH = {
    "rldebug.parts.distributions": [
        (
            "    return each.sum(-1) if dims == 1 else each.flatten(-dims).sum(-1)\n",
            "    return each\n",
        ),
    ],
    "rldebug.parts.heads": [],
}
RUNG = "interior-optimum"
EXPECT = "ACT008"
SUSPECT = "action-sampling"
ALSO = {
    "policy-loss": "the loss broadcasts (N, 1) against (N,)",
}
CONTROLS = True
