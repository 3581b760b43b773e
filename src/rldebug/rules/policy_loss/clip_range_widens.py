"""The range that ratios are clipped to grows as the program learns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ClipRangeWidens(Rule):
    """The range that ratios are clipped to grows as the program learns.

    ## What it checks
    The bounds of the ratio in the policy loss, look by look: they never come nearer to one another, and lie much
    further apart in the end than at the beginning. Exact.

    ## Why it matters
    The clip keeps a policy near the one that collected the data. Steps are to become smaller towards the end; here they
    are held back at the beginning, and let loose when there is something to lose.

    ## Likely causes
    1. A schedule is given what is left of the training, and taken to be given what is done. Stable-Baselines3 calls it
       with 1 at the beginning and 0 at the end. Confirm: print its argument.
    2. The range is divided by what it should be multiplied with, or a factor lies above 1. Confirm: print the range at
       the first and the last update.

    ## What to try first
    Print the clip range at the first and the last update.

    ## When it is fine
    A range that follows the measured divergence: it falls as well as it rises, and is not reported.

    ## References
    Schulman et al., *Proximal Policy Optimization Algorithms* (2017), section 6.1: the range is annealed to zero.
    """

    code: ClassVar[str] = "POL318"
    name: ClassVar[str] = "clip-range-widens"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "loss"

    widths: int = 3  # different ones, in looks of their own
    grown: float = 1.5  # times the first
    far: float = 0.4  # of the updates of the run, to which the looks must reach: it may only rise at the start

    def check(self, evidence: Script) -> Iterator[Finding]:
        seen: dict[int, list[tuple[float, float]]] = {}
        first: Event | None = None
        latest = 0
        for audit, term in evidence.terms("policy"):
            clip = term.get("clip")
            if "ratio" in term.arrays and clip and len(clip) == 2 and None not in clip and clip[0] < 1.0 < clip[1]:
                first, latest = first or term, max(latest, term.update)
                seen.setdefault(audit.number, []).append((float(clip[0]), float(clip[1])))
        # Where one look saw several ranges there may be several losses, each with its own.
        ranges = [each[0] for _, each in sorted(seen.items()) if len(set(each)) == 1]
        if first is None or len(ranges) < self.widths or len(ranges) < len(seen):
            raise NotEnough(f"{len(ranges)} looks at a clipped ratio with one range, needs {self.widths}")
        if latest < self.far * int(evidence.counts.get("updates") or 0):
            raise NotEnough("the audits are from the beginning of the run only")
        widths = [high - low for low, high in ranges]
        if any(after < before * (1 - 1e-6) for before, after in pairwise(widths)):
            return
        if len({round(each, 9) for each in widths}) < self.widths or widths[-1] < self.grown * widths[0]:
            return
        (low, high), (lowest, highest) = ranges[0], ranges[-1]
        yield self.finding(
            "the range that ratios are clipped to grows",
            where=first.where,
            seen=f"[{low:.4g}, {high:.4g}] at first, [{lowest:.4g}, {highest:.4g}] at last, and never narrower in "
            f"{len(ranges)} looks"
            + ("; a ratio is never negative, so that nothing is clipped from below" if lowest <= 0 else ""),
            expected="a range that stays, or narrows",
            help="print the range at the first and the last update; a schedule may be given what is left of the "
            "training, from 1 to 0",
            confidence=0.88,
        )
