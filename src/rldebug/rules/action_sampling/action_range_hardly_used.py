"""The actions stay in a tiny part of the action space."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActionRangeHardlyUsed(Rule):
    """Executed actions stay in a tiny part of the range of the action space.

    ## What it checks
    The lowest and highest value that was executed, for each element of a bounded action, over the whole run, against
    the bounds of the action space. Reported where the range that was used is below a hundredth of the one that exists,
    in all elements; or below a tenth, while many of the actions that are drawn lie beyond one of the bounds: the policy
    stands at the edge of the range, and is too narrow to see the rest.

    ## Why it matters
    Nearly everything that could be done is never tried: a network starts with outputs of about 1, whatever the range.

    ## Likely causes
    1. The action is not scaled from [-1, 1] to the bounds of the space. Confirm: print the bounds and some actions.
    2. The environment states its actions in small units. Confirm: as before.

    ## What to try first
    Let the policy act in [-1, 1] and rescale (`gymnasium.wrappers.RescaleAction`).

    ## When it is fine
    Bounds that only mean "no bound" (above 1e12) are not judged.

    ## References
    Seen in the wild: ACT-03 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ACT325"
    name: ClassVar[str] = "action-range-hardly-used"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    steps: int = 300  # with a bounded continuous action, in all
    part: float = 0.01  # of the range of the action space, used at most
    edge: float = 0.1  # the same, of a policy that draws actions beyond a bound
    beyond: float = 0.3  # share of these, early and late
    draws: int = 64  # in an audit
    audits: int = 3  # in which that many were drawn

    def check(self, evidence: Script) -> Iterator[Finding]:
        used: list[NDArray[np.float64]] = []
        steps, width = 0, None
        for stream in evidence.streams:
            facts, action = stream.get("facts") or {}, stream.get("action") or {}
            if facts.get("action_space") != "Box" or not action.get("low") or not facts.get("action_low"):
                continue
            low, high = (np.ravel(np.array(facts[name], dtype=np.float64)) for name in ("action_low", "action_high"))
            reached = np.array([action["low"], action["high"]], dtype=np.float64)
            if (
                reached.shape != (2, len(low))
                or not np.isfinite([*low, *high]).all()
                or np.max(np.abs([low, high])) > 1e12
            ):
                continue
            if not (high > low).all() or (width is not None and not np.array_equal(width, high - low)):
                continue
            width = high - low
            steps += int(stream["steps"])
            used.append(reached)
        if width is None or steps < self.steps:
            raise NotEnough(f"{steps} steps with a bounded continuous action, needs {self.steps}")
        both = np.array(used)
        share = (both[:, 1].max(axis=0) - both[:, 0].min(axis=0)) / width
        cut = self._beyond(evidence, low, high) if self.part < float(share.max()) <= self.edge else 0.0
        if float(share.max()) > self.part and cut < self.beyond:
            return
        yield self.finding(
            "the actions stay in a tiny part of the action space",
            seen=f"at most {share.max():.1g} of the range of the action space in {steps} steps: "
            f"{both[:, 0].min():.3g} to {both[:, 1].max():.3g}"
            + (f"; {cut:.0%} of the actions that are drawn lie beyond a bound" if cut else ""),
            expected="actions that reach over the range",
            help="let the policy act in [-1, 1] and rescale to the bounds of the action space",
            confidence=0.9,
        )

    def _beyond(self, script: Script, low: NDArray[np.float64], high: NDArray[np.float64]) -> float:
        """The share of draws that lie beyond the bound that they are nearest to; of the first and last audits the
        smaller, and of elements."""
        shares = []
        for _, event in script.events("sample"):
            drawn = event.arrays.get("result")
            if event.get("dist") not in ("Normal", "MultivariateNormal") or drawn is None or drawn.ndim != 2:
                continue
            if drawn.shape[1] == len(low) and len(drawn) >= self.draws:
                below, above = (drawn < low).mean(axis=0), (drawn > high).mean(axis=0)
                shares.append(float(np.maximum(below, above).min()))
        return min(shares[0], shares[-1]) if len(shares) >= self.audits else 0.0
