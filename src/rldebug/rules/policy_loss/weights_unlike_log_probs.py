"""Log-probs meet weights of another shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import is_entropy, operands_told, shapes_meet_badly
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class WeightsUnlikeLogProbs(Rule):
    """Log-probs meet weights of another shape.

    ## What it checks
    Shapes did not fit where a log-prob with a graph is put together with something else, and no column is left over.

    ## Why it matters
    Each log-prob is to be weighed by the advantage of its own step.

    ## Likely causes
    1. Advantages are those of one environment or one episode, log-probs those of all. Confirm: print both shapes.
    2. One of them is a minibatch, the other the whole rollout. Confirm: the same.
    3. The log-prob of an action of several numbers is not summed over them. Confirm: `dist.log_prob(action).sum(-1)`
       has one axis less.

    ## What to try first
    Print the shapes of log-prob and advantage on the line before; take the same indices from both.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Broadcasting semantics*.
    """

    code: ClassVar[str] = "POL430"
    name: ClassVar[str] = "weights-unlike-log-probs"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return shapes_meet_badly(evidence) and place(evidence) == "policy-loss" and not is_entropy(evidence)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "log-probs meet weights of another shape",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="one weight for each log-prob",
            help=_reshaped(evidence)
            or "take the same rows of both; sum the log-prob of an action of several parts over them: .sum(-1)",
            confidence=0.75,
        )


def _reshaped(crash: Crash) -> str:
    """What makes them fit where they hold the same rows, in another shape."""
    shapes = {name: fact for name, fact in crash.operands().items() if fact["kind"] in ("tensor", "array")}
    graphs = [fact["shape"] for fact in shapes.values() if fact.get("ops") and fact["shape"]]
    for name, fact in shapes.items():
        shape = fact["shape"]
        for wanted in graphs if not fact.get("ops") and shape else ():
            if prod(shape) == prod(wanted) and shape != wanted:
                return f"bring {name} into the shape of the other: {name}.reshape({', '.join(map(str, wanted))})"
            # One weight for each sequence, one log-prob for each of its steps.
            if len(wanted) > 1 and prod(shape) == wanted[0]:
                ones = ", 1" * (len(wanted) - 1)
                return f"there is one of {name} for each row: {name}.reshape(-1{ones})"
    return ""
