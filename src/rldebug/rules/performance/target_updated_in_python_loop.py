"""Target networks follow weight by weight, in Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Slice, Timing, total
from rldebug.evidence.timings.amounts import of_the_run
from rldebug.evidence.timings.copies import by_lerp, copied_in_turn
from rldebug.evidence.timings.loops import Loop, in_network, places
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class TargetUpdatedInPythonLoop(Rule):
    """Target networks follow weight by weight, in Python.

    ## What it checks
    Time that is spent in a loop over the parameters of two networks that writes to one of them, after updates.

    ## Why it matters
    Three or four operations for each tensor, for each of twenty tensors, after each update: often more time than the
    loss itself. All of them can be done in one call.

    ## Likely causes
    1. `for p, target in zip(net.parameters(), target_net.parameters())`. Confirm: read the line that is named.

    ## What to try first
    `torch._foreach_lerp_(targets, parameters, tau)` under `torch.no_grad()`, on two lists made once; or
    `rldebug.parts.ensemble.soft_update`.

    ## When it is fine
    Where it is done once in a thousand updates; then nothing is said.

    ## References
    PyTorch, `torch.optim.swa_utils` (which uses `torch._foreach_lerp_` too).
    """

    code: ClassVar[str] = "PRF915"
    name: ClassVar[str] = "target-updated-in-python-loop"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    otherwise: float = 0.4  # of the time is left, where it was not measured on this machine

    def check(self, evidence: Timing) -> Iterator[Finding]:
        around = {
            each: loop for each in evidence.of(where=_while_training) if (loop := _loop(evidence, each)) is not None
        }
        if not around:
            return
        found, measured = list(around), evidence.yardstick.get("polyak")
        seconds = total(found)
        usual = measured.instead if measured is not None else None
        if measured is not None and all(by_lerp(loop) for loop in around.values()):
            usual = measured.detail.get("lerp", usual)
        left = measured.seconds / usual if measured is not None and usual else self.otherwise
        speedup = evidence.speedup(seconds, seconds * left)
        if speedup < WORTH:
            return
        yield self.finding(
            "target networks follow weight by weight, in a Python loop",
            where=evidence.where(found),
            seen=f"{lasting(seconds / max(1, evidence.updates))} per update, {of_the_run(evidence, seconds)}",
            expected=f"{measured.what}: {lasting(measured.seconds)} on this machine, {lasting(usual)} in a loop"
            if measured is not None and usual
            else "less than half of it, in one call",
            help="torch._foreach_lerp_(targets, parameters, tau) under torch.no_grad(), on two lists made once "
            "(rldebug.parts.ensemble.soft_update)",
            confidence=0.9,
            severity=weight(speedup),
            speedup=speedup,
        )


def _while_training(piece: Slice) -> bool:
    return piece.before not in ("start", "backward") and not piece.inside and not in_network(piece)


def _loop(timing: Timing, piece: Slice) -> Loop | None:
    """In the innermost function of the user's, or in the one that has called it."""
    near = [place for place, _ in zip(places(timing, piece), range(2), strict=False)]
    return next((loop for place in near if (loop := copied_in_turn(*place)) is not None), None)
