"""Checkpoints are written so often that the run waits for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Timing, total
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity, thousands
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CheckpointsDominate(Rule):
    """Checkpoints are written so often that the run waits for them.

    ## What it checks
    The time spent on writing checkpoints while the run goes on, from five hundredths of it on. What is written after
    the last step and update does not count.

    ## Why it matters
    A checkpoint is there for the case that a run breaks off. Written every few minutes it costs nothing; written at
    every update it may cost more than the update, and fill the disk.

    ## Likely causes
    1. `torch.save` in the innermost loop. Confirm: the line that is named.
    2. The replay buffer is written each time. Confirm: the size of the file.
    3. A "best so far" that is written at each small improvement. Confirm: count how often.

    ## What to try first
    Write every ten minutes, or a tenth as often.

    ## When it is fine
    Machines that are taken away at any moment.

    ## References
    PyTorch tutorials, *Saving and Loading Models*.
    """

    code: ClassVar[str] = "PRF928"
    name: ClassVar[str] = "checkpoints-dominate"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    share: float = 0.05  # of the run
    rarer: float = 0.1  # of the time that stays: a tenth as often

    def check(self, evidence: Timing) -> Iterator[Finding]:
        written = evidence.of("saving", where=lambda each: each.after != "end" and each.before != "start")
        seconds = total(written)
        speedup = evidence.speedup(seconds, self.rarer * seconds)
        if evidence.share(seconds) < self.share or speedup < WORTH:
            return
        inner = total(each for each in written if each.after in ("backward", "update") and each.before == "update")
        unit, count = (
            ("updates", evidence.updates)
            if inner >= 0.5 * seconds
            else ("stretches of acting and learning", evidence.phases)
        )
        yield self.finding(
            f"checkpoints take {evidence.share(seconds):.0%} of the run",
            where=evidence.where(written),
            seen=lasting(seconds)
            + (f", {lasting(seconds / count)} for each of {thousands(count)} {unit} on average" if count else ""),
            expected=f"{lasting(self.rarer * seconds)}, a tenth as often",
            help="write every few minutes by the clock, and leave the replay buffer out",
            confidence=0.85,
            severity=weight(speedup),
            speedup=speedup,
        )
