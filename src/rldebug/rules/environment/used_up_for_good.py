"""What an episode uses up stays used up: no reset brings it back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.starts import Start, starts_of
from rldebug.forensics.worlds import name_of, training_streams
from rldebug.rule import NotEnough, Rule
from rldebug.rules.environment.reset_leaves_a_part import moving


@dataclass(frozen=True, kw_only=True)
class UsedUpForGood(Rule):
    """What an episode uses up or switches on stays so for all that follow.

    ## What it checks
    Observations that `reset()` returned, beside the last one of the episode before: an element that moves within the
    first episodes is never changed by a reset, and from then on all episodes begin with the one value that it has come
    to, while other elements are drawn anew. Exact.

    ## Why it matters
    Only the first episode is the task: in all others the tank is empty, the door open, the parcel in the bag from the
    first step on. What is learned is another task, and the return tells nothing of the one that was meant.

    ## Likely causes
    1. `reset()` does not set an attribute that `step()` changes, such as a stock or a flag; it is set in `__init__`
       only. Confirm: print it after a reset.

    ## What to try first
    Set everything that `step()` changes in `reset()`.

    ## When it is fine
    Where something is to last for the whole life of the agent.

    ## References
    Seen in the wild: ENV-02 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ENV271"
    name: ClassVar[str] = "used-up-for-good"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "reset"
    follows: ClassVar[tuple[str, ...]] = ("ENV307", "ENV310", "ENV350")

    episodes: int = 8  # that begin with the value that it has come to
    once: int = 20  # of them, where it was seen to be carried over a reset once only
    anew: float = 0.95  # share of resets that change another element

    def check(self, evidence: Script) -> Iterator[Finding]:
        most = 0
        carried: dict[int, list[int]] = {}  # element -> in each environment, how often it was moved and carried over
        begun: dict[int, int] = {}
        refuted: set[int] = set()
        name = ""
        for stream in training_streams(evidence):
            if int(stream.get("lanes") or 1) > 1:
                continue
            index = int(stream["index"])
            starts = starts_of(evidence, index)
            known = [each for each in starts if each.before is not None]
            most = max(most, len(known))
            if not known:
                continue
            width = len(starts[0].obs)
            kept = np.stack([each.obs == each.before for each in known])
            refuted.update(np.flatnonzero(~kept.all(axis=0)).tolist())
            if not (kept.mean(axis=0) < 1 - self.anew).any():
                continue
            moves = moving(evidence, index, width)
            for element in np.flatnonzero(kept.all(axis=0) & (moves > 0)).tolist():
                times, last = _carried(starts, element)
                if times and last:
                    carried.setdefault(element, []).append(times)
                    begun[element] = begun.get(element, 0) + last
                    name = name or name_of(stream)
        told = [
            element
            for element, times in carried.items()
            if element not in refuted and begun[element] >= (self.episodes if sum(times) > 1 else self.once)
        ]
        if told:
            which = ", ".join(map(str, told[:8]))
            yield self.finding(
                f"no reset of {name} brings back what its first episodes have changed",
                seen=f"element {which} of the observation moves in the first episodes and is never changed by a reset; "
                f"{max(begun[each] for each in told)} later episodes begin with the value that it came to",
                expected="a start that does not depend on the episode before",
                help="in reset(), set everything that step() changes",
                confidence=0.85,
            )
            return
        if most < self.episodes:
            raise NotEnough(f"{most} resets after an episode whose end is known, needs {self.episodes}")


def _carried(starts: Sequence[Start], element: int) -> tuple[int, int]:
    """How often an episode moved it and the next began with that; and how many began with what it is at last, if that
    is the second half of all."""
    values: NDArray[np.float32] = np.array([each.obs[element] for each in starts])
    last = values[-1]
    if values[0] == last or not (values[len(values) // 2 :] == last).all():
        return 0, 0
    times = sum(
        after.before is not None and bool(after.before[element] != before.obs[element])
        for before, after in pairwise(starts)
    )
    return times, int((values == last).sum())
