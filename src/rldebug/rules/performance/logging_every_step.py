"""Numbers are written or printed at every env step or update."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Slice, Timing, total
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.places import Function, above

_ACTING, _LEARNING = ("step", "reset"), ("backward", "update")
_AROUND = (("update", "step"), ("update", "reset"), ("step", "backward"))  # updates, in a phase of one or few steps
_LOOPS = ast.For | ast.While | ast.AsyncFor


def _rationed(timing: Timing, each: Slice) -> bool:
    """Whether an `if` inside of the loop decides about it."""
    if each.user is None or (source := timing.source(each.user.file)) is None:
        return False
    if (node := timing.node(each.user)) is None:
        return False
    for outer in above(source, node):
        if isinstance(outer, _LOOPS | Function):
            return False
        if isinstance(outer, ast.If):
            return True
    return False


def _to_file(each: Slice) -> bool:
    """TensorBoard's `add_scalar` and the like."""
    return any(spot.function.rpartition(".")[0] == "SummaryWriter" and spot.kind != "user" for spot in each.stack)


def _hands_on(each: Slice) -> bool:
    return _to_file(each) and any(spot.function == "Queue.put" for spot in each.stack)


@dataclass(frozen=True, kw_only=True)
class LoggingEveryStep(Rule):
    """Numbers are written or printed at every env step or update.

    ## What it checks
    Time spent on writing, printing and plotting between two env steps, or between updates where there are more than 50
    of them in a second: five hundredths of the run, or more. What is logged once a rollout does not count.

    ## Why it matters
    A line costs about as much as a step of a small environment. Nobody looks at a thousand points a second, and their
    files take minutes to load.

    ## Likely causes
    1. `writer.add_scalar` or `print` in the innermost loop. Confirm: the line that is named.
    2. The log is flushed or a figure drawn each time. Confirm: profile the same line.

    ## What to try first
    Keep the numbers in a list and log their mean every 100 steps, or once an iteration.

    ## When it is fine
    In short runs that look for a fault.

    ## References
    PyTorch documentation, *torch.utils.tensorboard*.
    """

    code: ClassVar[str] = "PRF913"
    name: ClassVar[str] = "logging-every-step"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    share: float = 0.05  # of the run
    pace: float = 50.0  # updates in a second, above which one at each is too often
    rarer: float = 0.01  # of the time that stays, if it is done every 100 times
    behind: float = 5.0  # times what TensorBoard's calls take, without handing on, its thread takes of Python's lock
    rationed: float = 0.1  # of the time that stays, where an `if` decides already

    def check(self, evidence: Timing) -> Iterator[Finding]:
        if evidence.seconds <= 0:
            return
        often = self._often(evidence)
        seconds = total(often)
        if evidence.share(seconds) < self.share:
            return
        seldom = total(each for each in often if _rationed(evidence, each))
        # A thread of TensorBoard's works on behind these lines. The program waits for it wherever it gives Python's
        # lock away: at the next line that computes, or at the queue itself.
        handed = total(each for each in often if _hands_on(each))
        calls = total(each for each in often if _to_file(each)) - handed
        behind = max(self.behind * calls - handed, 0.0) if handed else 0.0
        saved = self.rarer * (seconds - seldom) + self.rationed * seldom
        speedup = evidence.speedup(seconds + behind, saved * (1 + behind / seconds))
        if speedup < WORTH:
            return
        steps = total(each for each in often if each.after in _ACTING and each.before in _ACTING) >= 0.5 * seconds
        unit, count = ("env step", evidence.env_steps) if steps else ("update", evidence.updates)
        name = often[0].called
        yield self.finding(
            f"logging between {unit}s takes {evidence.share(seconds):.0%} of the run",
            where=evidence.where(often),
            seen=f"{lasting(seconds)}{f', most at once in `{name}`' if name else ''}"
            + (f": {lasting(seconds / count)} for each of {count} {unit}s" if count else ""),
            expected="once an iteration, or every 100 steps",
            help="collect the numbers, and log their mean now and then",
            confidence=0.85,
            severity=weight(speedup),
            speedup=speedup,
        )

    def _often(self, timing: Timing) -> list[Slice]:
        updates = timing.updates / timing.seconds > self.pace
        phases = timing.phases / timing.seconds > self.pace
        return timing.of(
            "logging",
            where=lambda each: (
                (each.before in _ACTING and each.after in _ACTING)
                or (updates and each.before in _LEARNING and each.after in _LEARNING)
                or (phases and (each.before, each.after) in _AROUND)
            ),
        )
