"""Squashed actions are executed as they are, in a space that is wider."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Audit, Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.executed_noise import executed_by
from rldebug.forensics.passes import actor_passes
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActionNotStretched(Rule):
    """Squashed actions are executed as they are, in a space that is wider.

    ## What it checks
    The executed action is the tanh of a number that was drawn, to rounding; or what an actor gives, which comes close
    to 1 and -1 and never leaves them. It is given to the environment as it is, and the bounds of its actions are
    others.

    ## Why it matters
    Only a part of the actions can ever be taken: a motor that never gets its full force.

    ## Likely causes
    1. `tanh(...)` without the factor and the offset of the space. Confirm: compare the largest action with the bounds.

    ## What to try first
    `low + (tanh(u) + 1) / 2 * (high - low)`.

    ## When it is fine
    Where the program limits itself to a part of the space on purpose.

    ## References
    Seen in the wild: ACT-03 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ACT371"
    name: ClassVar[str] = "action-not-stretched"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "drawn"

    steps: int = 24  # that must be there
    wider: float = 1.2  # bound, from which a part is out of reach

    def check(self, evidence: Script) -> Iterator[Finding]:
        stream = roles_of(evidence).stream
        facts = (evidence.streams[stream].get("facts") or {}) if stream is not None else {}
        bounds = [np.ravel(np.array(facts.get(name) or [], dtype=np.float64)) for name in ("action_low", "action_high")]
        if not len(bounds[0]) or not np.isfinite(np.concatenate(bounds)).all() or len(bounds[0]) != len(bounds[1]):
            raise NotEnough("the bounds of the actions are not known")
        if max(np.abs(bounds[0]).min(), np.abs(bounds[1]).min()) < self.wider:
            return
        # Before the first update actions are often drawn at random.
        told = [_drawn(audit, stream) for audit in evidence.audits if audit.update]
        steps, hits = sum(each[0] for each in told), sum(each[1] for each in told)
        if steps >= self.steps and hits >= 0.9 * steps:
            yield self._finding(bounds, f"the tanh of what was drawn in {hits} of {steps} steps", None)
            return
        said = [
            push.output.values
            for each in actor_passes(evidence)
            for push in each.actor
            if push.output.place == 0 and push.output.values.shape[1] == len(bounds[0])
        ]
        plain = [each for each in executed_by(evidence) if each.way == "as it is" and each.sure and not each.drawn]
        if not said or not plain or len(plain[0]) < self.steps:
            raise NotEnough(f"{steps} steps whose action was seen to be drawn, needs {self.steps}")
        size = np.abs(np.concatenate(said))
        if size.max() <= 1.0 + 1e-6 and (size > 0.97).mean() > 0.03 and size.size >= 256:
            yield self._finding(bounds, f"an actor that ends at 1 in {size.size} numbers", plain[0].where)

    def _finding(self, bounds: list[np.ndarray], seen: str, where: Where | None) -> Finding:
        return self.finding(
            "squashed actions are executed without being stretched to the bounds",
            where=where or Where(),
            seen=f"{seen}; the bounds are {bounds[0].min():.3g} and {bounds[1].max():.3g}",
            expected="actions that reach the bounds",
            help="multiply the tanh with half the range, and add the middle",
            confidence=0.92,
        )


def _drawn(audit: Audit, stream: int | None) -> tuple[int, int]:
    """Steps of this stretch, and those whose action is the tanh of a number drawn in it."""
    numbers = [
        np.ravel(event.arrays["result"]).astype(np.float64)
        for event in audit.of("sample")
        if event.get("dist") in ("Normal", "Independent", "MultivariateNormal") and "result" in event.arrays
    ]
    nodes = audit.nodes
    keep = nodes.acted & (nodes.phase >= audit.phase) & (nodes.stream == (stream or 0))
    action = nodes.action[keep]
    if not numbers or not len(action) or not np.isfinite(action).all():
        return 0, 0
    drawn = np.sort(np.tanh(np.concatenate(numbers)))
    at = np.clip(np.searchsorted(drawn, action), 1, len(drawn) - 1) if len(drawn) > 1 else np.zeros(action.shape, int)
    near = np.minimum(np.abs(action - drawn[at]), np.abs(action - drawn[np.maximum(at - 1, 0)]))
    return len(action), int((near < 3e-6).all(axis=1).sum())
