"""Returns are accumulated from the first step on, not from the last (RWD-05)."""

ALGO = "ppo"
REPLACE = [
    (
        "from rldebug.parts.returns import gae\n",
        "from functools import partial\n"
        "\n"
        "from tests.planted_algos.returns import gae as step_by_step\n"
        "\n"
        "gae = partial(step_by_step, forward=True)\n",
    ),
]
RUNG = "delayed-reward"
EXPECT = "DIS011"
SUSPECT = "discounting"
CONTROLS = True
QUICK = True
