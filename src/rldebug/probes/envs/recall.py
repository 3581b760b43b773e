"""A cue, a wait, and a question: what was the cue?"""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe

CUES = ("none", "this", "that")
WAIT = 2


class Recall(Probe):
    """A cue, two blank steps, and then the action must name the cue.

    ## What it asks
    At first a cue is seen: this, that, or, in every second episode, none. Two steps later the action must name it. A
    wrong answer costs 1, and 3 where there was none: who still has the cue of an earlier episode in mind pays for it.

    ## What failing means
    The memory is not kept from step to step, is kept over the end of an episode (in acting, or where sequences are cut
    for learning), or is not what it was when learning begins.
    """

    name = "recall"
    rung = 29
    after = "observed-action-reward"
    asks = "return"
    states = tuple(f"{cue} {t}" for t in range(WAIT + 2) for cue in CUES)
    starts = {"none 0": 0.5, "this 0": 0.25, "that 0": 0.25}  # noqa: RUF012 - never written to
    actions = 3
    wants = ("memory",)
    patience = 3.0

    def step(self, state: str, action: Any) -> tuple[str | None, float]:
        cue, t = state.split()
        if int(t) <= WAIT:
            return f"{cue} {int(t) + 1}", 0.0
        if action == CUES.index(cue):
            return None, 1.0
        return None, -3.0 if cue == "none" else -1.0

    def look(self, state: str) -> str:
        cue, t = state.split()
        if int(t) == WAIT + 1:
            return "question"
        return "blank" if cue == "none" or int(t) > 0 else cue

    def returns(self) -> tuple[float, float]:
        return 0.0, 1.0  # of one who remembers nothing, and answers "none"; and of one who does
