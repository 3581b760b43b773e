"""The correction for a tanh is taken of the stretched action."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class CorrectionOfStretchedAction(Rule):
    """The correction for a tanh is taken of the stretched action.

    ## What it checks
    The first target of a critic that is not a number. Whatever it is made of was seen, and is finite: the reward, what
    critics said, the log-prob of the Gaussian. The rows that are not finite are just those whose squashed action,
    stretched to the bounds, is larger than 1: there `log(1 - action**2)` is none. Exact.

    ## Why it matters
    One such row makes all weights not a number.

    ## Likely causes
    1. `action = tanh(u) * scale` comes before `log(1 - action**2 + eps)`. Confirm: read the lines.

    ## What to try first
    Take the correction of `tanh(u)`, and scale afterwards.

    ## When it is fine
    Never.

    ## References
    Seen in the wild: ACT-09 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ACT375"
    name: ClassVar[str] = "correction-of-stretched-action"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "density"

    rows: int = 3  # that are not finite

    def check(self, evidence: Script) -> Iterator[Finding]:
        for audit in evidence.audits:
            for term in audit.terms("regression"):
                # Where only their difference could be read, it shows the same.
                found = term.arrays.get("target", term.arrays.get("difference"))
                if found is None or np.isfinite(found).all():
                    continue
                lost = ~np.isfinite(np.ravel(found))
                seen = self._explained(evidence, audit, term, lost)
                if seen:
                    yield self.finding(
                        "the correction for the tanh is taken of the stretched action",
                        where=term.where,
                        seen=seen,
                        expected="log(1 - tanh(u)**2)",
                        help="take the correction of tanh(u), before it is scaled",
                        confidence=0.96,
                    )
                return  # after the first one everything is lost
        raise NotEnough("no target was seen that is not a number")

    def _explained(self, script: Script, audit: Audit, term: Event, lost: np.ndarray) -> str:
        for event in audit.of("logp"):
            value, result, orders = (event.arrays.get(name) for name in ("value", "result", "orders"))
            if value is None or result is None or orders is None or event.get("attached"):
                continue
            before = orders[orders < term.order]
            if event.get("dist") not in ("Normal", "Independent") or not len(before) or len(value) != len(orders):
                continue
            block = orders == before.max()
            count = int(block.sum())
            if not count or len(lost) % count or not np.isfinite(result[block]).all():
                continue
            squashed = np.abs(np.tanh(np.asarray(value[block], dtype=np.float64).reshape(count, -1)))
            # Two critics in one output: each row comes twice.
            rows = lost.reshape(-1, count)
            if not (rows == rows[0]).all():
                rows = lost.reshape(count, -1).T
            if not (rows == rows[0]).all() or rows[0].sum() < self.rows or rows[0].all():
                continue
            for stream in script.streams:
                facts = stream.get("facts") or {}
                high, low = (np.ravel(np.array(facts.get(name) or [], float)) for name in ("action_high", "action_low"))
                if len(high) != squashed.shape[1] or len(low) != len(high) or not np.isfinite(high - low).all():
                    continue
                scale = (high - low) / 2
                if (scale > 1).any() and np.array_equal((squashed * scale > 1).any(axis=1), rows[0]):
                    return f"{int(rows[0].sum())} of {count} targets are not numbers: those whose action is above 1"
        return ""
