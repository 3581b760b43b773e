"""The recursion of GAE is not cut where an episode ends; only the bootstrap is (ADV-05)."""

ALGO = "ppo"
REPLACE = [
    (
        "from rldebug.parts.returns import gae\n",
        "from functools import partial\n"
        "\n"
        "from tests.planted_algos.returns import gae as step_by_step\n"
        "\n"
        "gae = partial(step_by_step, leaks=True)\n",
    ),
]
RUNG = "leaking-return"
EXPECT = "ADV007"
SUSPECT = "advantage"
CONTROLS = True
