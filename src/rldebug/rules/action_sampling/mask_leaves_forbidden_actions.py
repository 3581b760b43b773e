"""Actions are ruled out by a mask, and what it leaves is punished at once, every time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class MaskLeavesForbiddenActions(Rule):
    """A mask rules actions out, and those it leaves are always punished.

    ## What it checks
    Steps whose action was drawn from probabilities of which some are exactly 0, as a mask makes them: whether in nearly
    all of them the lowest reward of all was paid, a negative one, and the episode ended or nothing moved.

    ## Why it matters
    Environments answer forbidden actions so. An agent that can only choose among those has nothing to learn.

    ## Likely causes
    1. The mask is the wrong way round: `masked_fill(mask, -1e9)` where the mask is true for what is allowed. Confirm:
       print mask and action of ten steps.
    2. It is the mask of another step, or of another environment. Confirm: the same.

    ## What to try first
    `logits.masked_fill(~mask, -1e9)`, if True means allowed.

    ## When it is fine
    A game that is lost whatever one does.

    ## References
    Huang and Ontañón, *A Closer Look at Invalid Action Masking in Policy Gradient Algorithms* (2022).
    """

    code: ClassVar[str] = "ACT329"
    name: ClassVar[str] = "mask-leaves-forbidden-actions"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "scores"

    steps: int = 64  # in which actions were ruled out
    share: float = 0.98  # of them punished

    def check(self, evidence: Script) -> Iterator[Finding]:
        total = punished = 0
        audits = set()
        for audit in evidence.audits:
            places = _ruled(audit)
            if not len(places):
                continue
            nodes = audit.nodes
            reward = nodes.reward[places]
            least = float(np.nanmin(nodes.reward))
            after = nodes.index(nodes.nxt[places])
            still = (after >= 0) & (nodes.obs_stats[np.maximum(after, 0), 4] == nodes.obs_stats[places, 4])
            total += len(places)
            punished += int(((reward <= least) & (reward < 0) & (nodes.terminated[places] | still)).sum())
            audits.add(audit.number)
        if total < self.steps or len(audits) < 2:
            raise NotEnough(f"{total} steps in which a mask ruled actions out, needs {self.steps}")
        if punished < self.share * total:
            return
        yield self.finding(
            "the actions that the mask leaves are punished each time",
            seen=f"the lowest reward, and the end or no movement, after {punished} of {total} steps in which actions "
            "had been ruled out",
            expected="forbidden actions ruled out, and allowed ones left",
            help="look whether True means allowed or forbidden: logits.masked_fill(~allowed, -1e9)",
            confidence=0.85,
        )


def _ruled(audit: Audit) -> NDArray[np.int64]:
    """Places of the nodes that were acted from by drawing, where some probabilities were 0 and several were not."""
    seen = _observed(audit)
    found: list[int] = []
    for event in audit.of("sample"):
        params, at, result = (event.arrays.get(each) for each in ("params", "at", "result"))
        if params is None or at is None or result is None or params.ndim != 2 or len(at) != len(params):
            continue
        out = params == 0 if event.get("params") == ["probs"] else params < -1e4
        if event.get("params") not in (["probs"], ["logits"]) or result.size != len(params) or not out.any():
            continue
        chosen = result.reshape(-1)
        for call in np.unique(at).tolist():
            rows = np.flatnonzero(at == call)
            places = seen.get(call)
            if places is None or len(places) != len(rows) or (places < 0).any():
                continue
            good = audit.nodes.acted[places] & (audit.nodes.action[places, 0] == chosen[rows])
            some = out[rows].any(axis=1) & (out[rows].sum(axis=1) < out.shape[1])
            found += places[good & some].tolist()
    return np.array(found, dtype=np.int64)


def _observed(audit: Audit) -> dict[int, NDArray[np.int64]]:
    """After how many calls of the environments a network was asked about which nodes, to act."""
    found: dict[int, NDArray[np.int64]] = {}
    for event in audit.acting:
        rows, at = event.arrays.get("rows"), event.arrays.get("at")
        if rows is None or at is None or len(at) != len(rows):
            continue
        for call in np.unique(at).tolist():
            found.setdefault(call, audit.nodes.index(rows[at == call]))
    return found
