"""Predictions meet targets of another shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import is_entropy, operands_told, shapes_meet_badly
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class TargetUnlikePrediction(Rule):
    """Predictions meet targets of another shape.

    ## What it checks
    Shapes did not fit where a prediction is compared with its target, and no column is left over.

    ## Why it matters
    Each prediction is to be compared with the target of its own step.

    ## Likely causes
    1. The target is that of the whole rollout, the prediction that of a minibatch. Confirm: print both shapes.
    2. Q-values of all actions are compared with the target of one: `gather` is missing. Confirm: the last axis has the
       number of actions.
    3. The last value of the rollout, for the bootstrap, is among the predictions. Confirm: the lengths differ by 1.

    ## What to try first
    Print the shapes of prediction and target on the line before.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Broadcasting semantics*.
    """

    code: ClassVar[str] = "VAL430"
    name: ClassVar[str] = "target-unlike-prediction"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return shapes_meet_badly(evidence) and place(evidence) == "value-loss" and not is_entropy(evidence)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "predictions meet targets of another shape",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="two tensors of the same shape",
            help="compare rows of the same steps: index both alike" + _of_one_action(evidence),
            confidence=0.75,
        )


def _of_one_action(crash: Crash) -> str:
    """Whether one side has a Q-value for each action."""
    shapes = [tuple(each.get("shape") or ()) for each in crash.operands().values()]
    several = {shape[-1] for shape in shapes if len(shape) > 1}
    actions = {int(size) for size, what in crash.sizes.items() if what.endswith("action_space.n")}
    return ", and pick the Q-value of the action with gather" if several & actions else ""
