"""A cut-off episode is not cut: GAE goes on into the next one (ADV-15, second form)."""

ALGO = "ppo"
REPLACE = [
    (
        "from rldebug.parts.returns import gae\n",
        "from functools import partial\n"
        "\n"
        "from tests.planted_algos.returns import gae as step_by_step\n"
        "\n"
        "gae = partial(step_by_step, truncation_leaks=True)\n",
    ),
]
RUNG = "unequal-episodes"
EXPECT = "BUF009"
SUSPECT = "buffer"
ALSO = {
    "advantage": "it is GAE that goes on; the value of the next episode's first state stands for the rest either way",
    "discounting": "the same mistake seen from the return",
}
