"""A list is only ever appended to, and memory grows with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import Held, Timing
from rldebug.evidence.timings.growth import LOOKS, added_at, bounded, grows, per_second
from rldebug.finding import Finding, Severity, thousands
from rldebug.rule import Rule

_MEGABYTE = 2.0**20


@dataclass(frozen=True, kw_only=True)
class MemoryGrowsInList(Rule):
    """A list is only ever appended to, and memory grows with it.

    ## What it checks
    Containers of the program that were looked at several times: one gets longer at the same pace to the end, by 50 MB
    or by a fifth of what the whole process grew by, and nothing in the text takes from it, empties it or gives it a
    largest size. In a run too short for that: it is about as large as what the process grew by.

    ## Why it matters
    A long run ends for want of memory, mostly at night. Before that, everything that goes through the list gets
    slower.

    ## Likely causes
    1. Observations, frames or infos are kept for later, and later never comes. Confirm: print its length.
    2. A replay buffer without a capacity. Confirm: look where it is made.

    ## What to try first
    Use `collections.deque(maxlen=…)`, or an array of fixed size that is written in a circle.

    ## When it is fine
    Runs that end before it matters, and data that are collected on purpose.

    ## References
    Python documentation, *collections.deque*.
    """

    code: ClassVar[str] = "PRF922"
    name: ClassVar[str] = "memory-grows-in-list"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"
    explains: ClassVar[tuple[str, ...]] = ("PRF004",)

    megabytes: float = 50.0  # by which it grew
    part: float = 0.2  # of what the process grew by
    least: float = 10.0  # megabytes by which it must have grown in any case
    warned: float = 1024.0  # megabytes an hour, from which it is a warning

    def check(self, evidence: Timing) -> Iterator[Finding]:
        resident = [each.resident for each in evidence.windows if each.resident]
        process = (resident[-1] - resident[0]) / _MEGABYTE if resident else 0.0
        late = resident[2 * len(resident) // 3 :]
        rises = len(resident) >= 6 and late[-1] - late[0] >= 0.15 * (resident[-1] - resident[0])
        found = [
            each
            for each in evidence.held
            if (self._matters(each, process) or (rises and self._fills(each, process))) and not bounded(evidence, each)
        ]
        for held in sorted(found, key=lambda each: -per_second(each))[:3]:
            hourly = 3600 * per_second(held) / _MEGABYTE
            yield self.finding(
                f"`{held.name}` is only ever added to",
                where=added_at(evidence, held),
                seen=(f"{thousands(held.items[0])} items at the first look, " if len(held.items) > 1 else "")
                + f"{thousands(held.items[-1])} {'at the last' if len(held.items) > 1 else 'items'}, "
                f"{held.bytes[-1] / _MEGABYTE:.0f} MB; "
                + (f"{hourly / 1024:.1f} GB" if hourly >= 1024 else f"{hourly:.0f} MB")
                + " more in an hour"
                + (f"; the process grew by {process:.0f} MB" if process > 0 else ""),
                expected="a length that levels out",
                help="give it a largest size: collections.deque(maxlen=…); or keep the numbers that are needed alone",
                confidence=0.85,
                severity="warning" if hourly >= self.warned else "note",
            )

    def _fills(self, held: Held, process: float) -> bool:
        """Looked at once or twice, in a short run: it is what the process grew by."""
        if not held.bytes or len(held.bytes) >= LOOKS or process < self.megabytes:
            return False
        longer = len(held.items) < 2 or held.items[-1] > held.items[0]
        return longer and 0.5 * process <= held.bytes[-1] / _MEGABYTE <= 1.5 * process

    def _matters(self, held: Held, process: float) -> bool:
        if not grows(held) or len(held.bytes) != len(held.items):
            return False
        grown = (held.bytes[-1] - held.bytes[0]) / _MEGABYTE
        return grown >= self.megabytes or grown >= max(self.least, self.part * process)
