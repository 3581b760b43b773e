"""Powers of γ come from a table that is too short: beyond five steps all are the last one."""

ALGO = "ppo"
REPLACE = [
    (
        "from rldebug.parts.returns import gae\n",
        "from functools import partial\n"
        "\n"
        "from tests.planted_algos.returns import gae as step_by_step\n"
        "\n"
        "gae = partial(step_by_step, capped=True)\n",
    ),
]
RUNG = "discount-chain"
EXPECT = "DIS014"
SUSPECT = "discounting"
CONTROLS = True
