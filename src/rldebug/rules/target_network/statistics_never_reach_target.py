"""Running statistics of batch normalisation never reach the target network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.followers import followers
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class StatisticsNeverReachTarget(Rule):
    """Running statistics of batch normalisation never reach the target.

    ## What it checks
    The weights of a target network follow those of its twin; the running means and variances of its batch
    normalisation stay as they were made, to the last bit, while those of the twin move far away. Exact.

    ## Why it matters
    In evaluation mode the target normalises with mean 0 and variance 1, and its values are those of another input.

    ## Likely causes
    1. Only `parameters()` are averaged; statistics are buffers. Confirm: print `running_mean` of both.

    ## What to try first
    Copy `buffers()` as well, whole, whenever the weights are averaged.

    ## When it is fine
    A target that normalises by the batch at hand: in training mode its own statistics move, and it is not judged.

    ## References
    Lillicrap et al., *Continuous control with deep reinforcement learning*. Ioffe and Szegedy 2015, *Batch
    Normalization*.
    """

    code: ClassVar[str] = "TGT306"
    name: ClassVar[str] = "statistics-never-reach-target"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "copies"

    looks: int = 3  # at the statistics
    steps: int = 30  # of an optimizer, between the first look and the last
    apart: float = 0.1  # of their own norm, by which the two differ in the end

    def check(self, evidence: Script) -> Iterator[Finding]:
        looks: dict[str, list[Event]] = {}
        for _, event in evidence.events("weights"):
            if event.get("statistics"):
                looks.setdefault(str(event["module"]), []).append(event)
        if not looks:
            raise NotEnough("no network with running statistics was seen")
        for each in followers(evidence):
            mine, theirs = looks.get(each.target, []), looks.get(each.online, [])
            if each.still or min(len(mine), len(theirs)) < self.looks:
                continue
            if len({one["statistics"]["fingerprint"] for one in mine}) > 1:
                continue
            if len({one["statistics"]["fingerprint"] for one in theirs}) < self.looks:
                continue
            away = (mine[-1]["statistics"].get("distance") or {}).get(each.online) or 0.0
            if away < self.apart or mine[-1].update - mine[0].update < self.steps:
                continue
            line = each.line
            yield self.finding(
                f"the running statistics of the target network {each.target} never change",
                where=Where(file=line[0], line=line[1], update=mine[-1].update)
                if line
                else Where(update=mine[-1].update),
                seen=f"equal to the last bit at {len(mine)} looks while its weights follow {each.online}; they are "
                f"{away:.0%} of their norm apart",
                expected="statistics that follow, too",
                help="copy the buffers as well as the parameters when the target is updated",
                confidence=0.93,
            )
            return
