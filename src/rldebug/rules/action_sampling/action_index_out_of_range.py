"""An action is used as an index beyond the network's outputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crash_signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ActionIndexOutOfRange(Rule):
    """An action is used as an index beyond the network's outputs.

    ## What it checks
    Picking the value or log-prob of an action failed: the index is beyond the last output.

    ## Why it matters
    The network has fewer outputs than there are actions, or the numbers are no actions.

    ## Likely causes
    1. The last layer was made for another number of actions. Confirm: compare it with `env.action_space.n`.
    2. Something else was stored where actions are expected. Confirm: print the greatest index.
    3. Actions are counted from 1, or from the `start` of the space. Confirm: the same.

    ## What to try first
    Print the greatest action of the batch and the number of outputs.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.gather`.
    """

    code: ClassVar[str] = "ACT404"
    name: ClassVar[str] = "action-index-out-of-range"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        picks = evidence.at is not None and any(
            each in evidence.at.source for each in ("gather(", "one_hot(", "take_along")
        )
        beyond = evidence.says(
            r"index -?\d+ is out of bounds for dimension",
            "Class values must be smaller than num_classes",
            "device-side assert triggered",
            r"Target -?\d+ is out of bounds",
            "index out of range in self",
        )
        return beyond and (
            picks or evidence.says("Target -?\\d", "Class values") or evidence.inside("torch.nn.functional")
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "an action is beyond the last output of the network",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="indices from 0 to the number of outputs less 1",
            help="compare the last layer with env.action_space.n, and print the greatest action of the batch",
            confidence=0.8,
        )
