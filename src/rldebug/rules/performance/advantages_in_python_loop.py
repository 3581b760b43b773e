"""Returns or advantages are computed step by step in Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Slice, Timing, total
from rldebug.evidence.timings.amounts import of_the_run, told
from rldebug.evidence.timings.loops import Loop, carried, in_network, loops, passes, sums_what_follows, trains
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class AdvantagesInPythonLoop(Rule):
    """Returns or advantages are computed step by step in Python.

    ## What it checks
    Time between the last step of a rollout and the first backward, spent in a loop of yours that carries a discounted
    sum from round to round (`R = r + gamma * R`, `adv[t] = delta + c * adv[t + 1]`), or that adds up all later rewards
    in each round.

    ## Why it matters
    Each round costs microseconds of Python, and tens of them where it computes with tensors; the arithmetic itself
    takes nanoseconds. While it lasts, neither environments nor networks have anything to do.

    ## Likely causes
    1. The recursion is written down as in the paper. Confirm: read the lines that are named.
    2. Each return is the sum of all rewards after it, which takes the square of the time. Confirm: make the rollout
       twice as long, and see whether this takes four times as long.

    ## What to try first
    Compute them with `rldebug.parts.returns.gae`, or with anything that is compiled: numba, scipy.signal.lfilter.

    ## When it is fine
    Rollouts of a few steps of many environments, where each round works on a long row.

    ## References
    Schulman et al., *High-Dimensional Continuous Control Using GAE*; numba, *A 5 minute guide*.
    """

    code: ClassVar[str] = "PRF900"
    name: ClassVar[str] = "advantages-in-python-loop"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    otherwise: float = 0.1  # of the time is left, where it was not measured on this machine

    def check(self, evidence: Timing) -> Iterator[Finding]:
        around = {each for piece in evidence.of(where=_once_a_rollout) for each in loops(evidence, piece)}
        slow = [each for each in around if _recursion(each) and not trains(evidence, each)]
        found = [
            each
            for each in evidence.of()
            if not in_network(each) and any(passes(evidence, each, loop) for loop in slow)
        ]
        if not found:
            return
        seconds, measured = total(found), evidence.yardstick.get("returns")
        times = max(1, evidence.phases)
        instead = measured.seconds * times if measured is not None else self.otherwise * seconds
        speedup = evidence.speedup(seconds, instead)
        if speedup < WORTH:
            return
        square = all(sums_what_follows(loop) for loop in slow)
        yield self.finding(
            "each return is summed up anew, in Python" if square else "returns are computed step by step in Python",
            where=evidence.where(found),
            seen=f"{lasting(seconds / times)} per rollout in a Python loop, {of_the_run(evidence, seconds)}",
            expected=told(measured, "a tenth of it or less, where the loop is compiled"),
            help="compute them with rldebug.parts.returns.gae or reward_to_go, on whole arrays",
            confidence=0.9,
            severity=weight(speedup),
            speedup=speedup,
        )


def _once_a_rollout(piece: Slice) -> bool:
    between = piece.before in ("step", "reset") and piece.after in ("backward", "end")
    return not piece.inside and not in_network(piece) and (piece.part == "advantages" or between)


def _recursion(loop: Loop) -> bool:
    sums = carried(loop)
    return any(sums.values()) or (bool(sums) and loop.backwards) or sums_what_follows(loop)
