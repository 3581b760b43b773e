"""A value network cannot give the values that it is to learn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ValueOutputBounded(Rule):
    """A value network cannot give the values that it is to learn.

    ## What it checks
    The outputs of a network that is regressed onto targets. They are a softmax: each row is positive and sums to one;
    or they end at a bound of −1 and 1 where most of them stick; while most targets lie beyond. Or none is ever below
    zero, and where they are exactly zero most targets are below, or nothing else is said any more. At every audit late
    in the run.

    ## Why it matters
    The values cannot be learned, and once the output sticks at its bound no gradient comes through it.

    ## Likely causes
    1. A softmax, sigmoid or tanh at the end of the value or Q network, mostly left over from a policy network.
       Confirm: read the last line of its `forward`.

    ## What to try first
    End the network with its last linear layer.

    ## When it is fine
    Where all returns lie within the bound: nothing is said then.

    ## References
    Mnih et al., *Human-level control through deep reinforcement learning* (a linear last layer).
    """

    code: ClassVar[str] = "NET300"
    name: ClassVar[str] = "value-output-bounded"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    audits: int = 2  # the last ones, all of which show it
    updates: int = 20  # before them
    rows: int = 32  # in each
    beyond: float = 0.5  # share of targets beyond the bound
    stuck: float = 0.8  # share of outputs at the bound
    dead: float = 0.95  # share of outputs that are 0 where nothing else is said any more

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = False
        for modules in _networks(evidence):
            module = " and ".join(modules)
            looks = [found for audit in evidence.audits if (found := self._errors(audit, modules)) is not None]
            looks = [each for each in looks if each[2].update >= self.updates and len(each[0]) >= self.rows]
            if len(looks) < self.audits:
                continue
            judged = True
            last = looks[-3:]
            softmax = len(modules) == 1 and self._softmax(evidence, module)
            softmax = softmax and all(0 <= made.min() <= made.max() <= 1 for made, _, _ in last)
            if softmax and all(self._outside(targets, 0.0, 1.0) for _, targets, _ in last):
                bound = "each row of its outputs is positive and sums to 1"
            elif all(self._floored(made, targets) for made, targets, _ in last) and any(
                made.max() > 0 for made, _, _ in looks
            ):
                bound = "no output is below 0, and most are 0"
            elif all(self._sticks(made) and self._outside(targets, -1.0, 1.0) for made, targets, _ in last):
                bound = "its outputs stick at -1 and 1"
            else:
                continue
            _, targets, term = last[-1]
            low, high = np.quantile(targets, [0.1, 0.9])
            yield self.finding(
                f"{module} cannot give the values that it is to learn",
                where=term.where,
                seen=f"{bound}; its targets go from {low:.3g} to {high:.3g} (10 % and 90 % quantiles)",
                expected="outputs without a bound",
                help="end the network with its last linear layer, without softmax, sigmoid or tanh",
                confidence=0.95,
            )
        if not judged:
            raise NotEnough(f"no network was seen with its targets in {self.audits} audits")

    def _errors(self, audit: Audit, modules: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray, Event] | None:
        terms = [
            each
            for each in audit.terms("regression")
            if tuple(each.get("reached") or ()) == modules and {"prediction", "target"} <= set(each.arrays)
        ]
        terms = [each for each in terms if each.arrays["prediction"].shape == each.arrays["target"].shape]
        if not terms:
            return None
        made = np.concatenate([np.ravel(each.arrays["prediction"]) for each in terms])
        targets = np.concatenate([np.ravel(each.arrays["target"]) for each in terms])
        return (made, targets, terms[0]) if np.isfinite(made).all() and np.isfinite(targets).all() else None

    def _outside(self, targets: np.ndarray, low: float, high: float) -> bool:
        room = 0.25 * (high - low)
        return bool(np.mean((targets < low - room) | (targets > high + room)) >= self.beyond)

    def _sticks(self, made: np.ndarray) -> bool:
        size = np.abs(made)
        return bool(size.max() <= 1.0 and np.mean(size > 0.98) >= self.stuck)

    def _floored(self, made: np.ndarray, targets: np.ndarray) -> bool:
        """Cut off at zero, as by a ReLU: where it says zero what is to be learned lies below; or it says nothing else
        any more, whatever is to be learned."""
        rows = ~((made == 0.0) & (targets == 0.0))  # filler is zero on both sides
        zero = rows & (made == 0.0)
        if made.min() < 0.0 or zero.sum() < self.beyond * max(int(rows.sum()), self.rows):
            return False
        below, dead = float(np.mean(targets[zero] < 0.0)), zero.sum() >= self.dead * rows.sum()
        return below >= self.beyond or bool(dead)

    def _softmax(self, script: Script, module: str) -> bool:
        rows = 0
        for _, call in script.events("call"):
            output = call.arrays.get("output0")
            if call["module"] != module or output is None or output.dtype.kind != "f" or not len(output):
                continue
            if len(call["outputs"]) != 1:
                return False  # probabilities of a policy beside a value
            if output.ndim != 2 or output.shape[1] < 2 or call["outputs"][0]["shape"][-1] != output.shape[1]:
                return False
            if output.min() < 0 or np.abs(output.sum(axis=1) - 1).max() > 1e-3:
                return False
            rows += len(output)
        return rows >= self.rows


def _networks(script: Script) -> list[tuple[str, ...]]:
    """What regressions reach, each once: a network, or the parts of one that are called one by one."""
    terms = (each for audit in script.audits for each in audit.terms("regression"))
    return sorted({tuple(each["reached"]) for each in terms if each.get("reached")})
