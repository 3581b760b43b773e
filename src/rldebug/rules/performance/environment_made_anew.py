"""Environments are made again and again, or their resets dominate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Slice, Timing, total
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity, Where, thousands
from rldebug.rule import Rule


def _made_at(slices: list[Slice], lines: set[tuple[str, int]]) -> Where:
    """The line that most of the making is done from."""
    spent = dict.fromkeys(lines, 0.0)
    for each in slices:
        for place in {(spot.file, spot.line) for spot in each.stack} & lines:
            spent[place] += each.seconds
    file, line = max(sorted(spent), key=lambda key: spent[key])
    return Where(file=file, line=line)


@dataclass(frozen=True, kw_only=True)
class EnvironmentMadeAnew(Rule):
    """Environments are made again and again, or resets dominate.

    ## What it checks
    Time in which environments are made after training has begun, from five hundredths of the run on, at a line that
    made three or more, one after the other. And the time in resets: three tenths of the run, where an episode has 50
    steps or more on average.

    ## Why it matters
    To make an environment loads its models and pictures, and checks it. A reset is there so that this is done once.

    ## Likely causes
    1. `gym.make` inside of the loop over episodes or evaluations. Confirm: the line that is named.
    2. `reset()` makes what it could keep: a level, a simulator, a file that is read. Confirm: profile one reset.

    ## What to try first
    Make the environment once, and call `reset()` at each episode.

    ## When it is fine
    Environments that cannot be reset, and tasks that differ in each episode.

    ## References
    Gymnasium documentation, *Basic usage*.
    """

    code: ClassVar[str] = "PRF927"
    name: ClassVar[str] = "environment-made-anew"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    made: float = 0.05  # of the run in which environments are made
    same: int = 3  # environments from one line
    resets: float = 0.3  # of the run
    steps: float = 50.0  # of an episode

    def check(self, evidence: Timing) -> Iterator[Finding]:
        lines = {each.created for each in evidence.environments if each.created is not None}
        often = {line for line in lines if self._in_turn(evidence, line)}

        def makes(each: Slice) -> bool:
            return each.before != "start" and any((spot.file, spot.line) in often for spot in each.stack)

        making = evidence.of(where=makes)
        seconds = total(making)
        speedup = evidence.speedup(seconds)
        if evidence.share(seconds) >= self.made and speedup >= WORTH:
            times = sum(each.created in often for each in evidence.environments)
            yield self.finding(
                f"environments are made anew while the program trains, for {evidence.share(seconds):.0%} of the run",
                where=_made_at(making, often),
                seen=f"{lasting(seconds)}; {times} were made and played one after the other",
                expected="made once, and reset at each episode",
                help="move the making out of the loop",
                confidence=0.85,
                severity=weight(speedup),
                speedup=speedup,
            )
            return
        yield from self._resets(evidence)

    def _in_turn(self, timing: Timing, line: tuple[str, int]) -> bool:
        """One after the other: those that are played side by side end together."""
        ends = sorted(each.last for each in timing.environments if each.created == line)
        return len(ends) >= self.same and ends[-1] - ends[0] > 0.2 * timing.seconds and ends[0] < ends[1] < ends[-1]

    def _resets(self, timing: Timing) -> Iterator[Finding]:
        slices = timing.of("reset")
        seconds = total(slices)
        played = [each for each in timing.environments if not each.evaluation]
        steps, episodes = (sum(getattr(each, name) for each in played) for name in ("steps", "episodes"))
        stepping = total(timing.of("simulator", "wrappers"))
        if timing.share(seconds) < self.resets or not episodes or steps < self.steps * episodes:
            return
        step = stepping / steps
        yield self.finding(
            f"resets take {timing.share(seconds):.0%} of the run",
            where=timing.where(slices),
            seen=f"{lasting(seconds)} for {thousands(episodes)} episodes of {steps / episodes:.0f} steps"
            + (f"; a reset takes as long as {seconds / episodes / step:.0f} steps" if step > 0 else ""),
            expected="a reset that costs as much as a few steps",
            help="profile one reset: keep what it loads or makes anew each time",
            confidence=0.7,
            severity="note",
        )
