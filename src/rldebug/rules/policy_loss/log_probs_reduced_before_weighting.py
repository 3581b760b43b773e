"""Log-probs are averaged before they are weighted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LogProbsReducedBeforeWeighting(Rule):
    """The log-probs of a batch are averaged before they are weighted.

    ## What it checks
    A loss of log-probs without a weight per row, whose factor changes with every update and takes either sign, over
    rows of several lanes or episodes: the weight was put on the mean of the log-probs and not on each of them.

    ## Why it matters
    No step has credit of its own: all actions of the batch are made more, or less, likely together. With normalised
    advantages, whose mean is 0, nothing is learned at all.

    ## Likely causes
    1. `logp.mean() * advantage` in place of `(logp * advantage).mean()`. Confirm: print the shape of the product's
       left side.
    2. The log-probs were summed over the batch where they were meant to be summed over the parts of the action.
       Confirm: as before.

    ## What to try first
    Multiply first, reduce after: `-(logp * advantage).mean()`.

    ## When it is fine
    One episode per loss, weighted with its return, has one factor per loss by design: such rows are not judged.

    ## References
    Seen in the wild: POL-03 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL305"
    name: ClassVar[str] = "log-probs-reduced-before-weighting"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "pushed"

    losses: int = 6  # of log-probs without a weight for each row
    audits: int = 2  # in which there are such losses

    def check(self, evidence: Script) -> Iterator[Finding]:
        found: list[tuple[Audit, Event]] = []
        for audit, term in evidence.events("term"):
            if term["kind"] not in ("policy", "classification") or term["op"] not in ("logp", "cross-entropy"):
                continue
            if "target" in term.arrays or "ratio" in term.arrays or term.get("attached", {}).get("weight"):
                continue
            weight = term.arrays.get("weight")
            if weight is not None and not np.isin(weight, (0.0, 1.0)).all():
                continue
            if _several(audit, term):
                found.append((audit, term))
        pooled = [term for _, term in evidence.events("term") if term.get("pooled") and term.get("family")]
        if len(pooled) >= 2 and len(pooled) >= len(list(evidence.terms("policy"))):
            yield self.finding(
                "the log-probs of the batch are reduced before they are weighted: no row has a weight of its own",
                where=pooled[0].where,
                seen=f"one number for all {pooled[0]['rows']} log-probs, and then {pooled[0]['pooled']} weights, in "
                f"{len(pooled)} losses",
                expected="a weight for each log-prob",
                help="multiply first and reduce after: -(logp * advantage).mean()",
                confidence=0.96,
            )
            return
        numbers = {audit.number for audit, _ in found}
        if len(found) < self.losses or len(numbers) < self.audits:
            raise NotEnough(f"{len(found)} losses of log-probs without a weight per row, needs {self.losses}")
        factors = np.array([float(term["scale"]) for _, term in found])
        different = len(np.unique(np.round(factors / np.abs(factors).max(), 7)))
        least = min(int((factors > 0).sum()), int((factors < 0).sum()))
        if least < max(2, 0.1 * len(factors)) or different < 0.8 * len(factors):
            return
        yield self.finding(
            "the log-probs of the batch are added up before they are weighted: no row has a weight of its own",
            where=found[0][1].where,
            seen=f"one factor for all {found[0][1]['rows']} log-probs of a loss, another in each of "
            f"{len(factors)} losses, {least} of them with the other sign",
            expected="a weight for each log-prob",
            help="multiply first and reduce after: -(logp * advantage).mean()",
            confidence=0.95,
        )


def _several(audit: Audit, term: Event) -> bool:
    """Whether its rows are of more than one lane or episode."""
    if int(term["rows"]) < 8:
        return False
    rows = term.arrays.get("rows")
    places = audit.nodes.index(rows) if rows is not None else np.empty(0, dtype=np.int64)
    places = places[places >= 0]
    if len(places) > 0.5 * int(term["rows"]):
        nodes = audit.nodes
        ends = (nodes.terminated[places] | nodes.truncated[places]).sum()
        return len(set(zip(nodes.stream[places].tolist(), nodes.lane[places].tolist(), strict=True))) > 1 or ends > 1
    # Steps one by one, each of several games.
    return int(term.get("steps", 1)) > 1 and int(np.prod(term.get("shapes", {}).get("logp") or [1])) > 1
