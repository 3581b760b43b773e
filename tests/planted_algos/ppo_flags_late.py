"""GAE reads the flags of the next step: off by one (ADV-01)."""

ALGO = "ppo"
REPLACE = [
    (
        "from rldebug.parts.returns import gae\n",
        "from functools import partial\n"
        "\n"
        "from tests.planted_algos.returns import gae as step_by_step\n"
        "\n"
        "gae = partial(step_by_step, flags_late=True)\n",
    ),
]
RUNG = "delayed-reward"
EXPECT = "DIS011"
SUSPECT = "discounting"
ALSO = {
    "advantage": "the flags are misread inside GAE; from outside the future is lost, as with any wrong return",
}
