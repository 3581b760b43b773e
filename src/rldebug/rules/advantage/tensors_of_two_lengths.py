"""Two tensors of different lengths meet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import operands_told, shapes_meet_badly
from rldebug.evidence.crashes.sizes import sizes_in
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class TensorsOfTwoLengths(Rule):
    """Two tensors of different lengths meet.

    ## What it checks
    Shapes did not fit, and nothing shows what the tensors are: the traceback is only text, or they have no names.

    ## Why it matters
    Log-prob, advantage, value, reward and flag of one step belong together.

    ## Likely causes
    1. One is a minibatch, the other a whole rollout. Confirm: print both shapes on the line that is named.
    2. One has an axis for the environments, the other is flat. Confirm: the same.
    3. The values hold one more than the rewards: the last, for the bootstrap. Confirm: the lengths differ by 1.

    ## What to try first
    Print both shapes on the line that is named, and compare the lengths with the number of environments, the steps of a
    rollout and the minibatch.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Broadcasting semantics*.
    """

    code: ClassVar[str] = "ADV432"
    name: ClassVar[str] = "tensors-of-two-lengths"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return shapes_meet_badly(evidence) and place(evidence) in (
            "installation",
            "evaluation",
            "optimizer",
            "autograd-graph",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        seen = any(frame.facts for frame in evidence.frames)
        sizes = " and ".join(str(each) for each in sizes_in(evidence.message)[:2])
        of = f", {sizes}," if " and " in sizes else ""
        yield self.finding(
            f"two tensors of different lengths{of} meet",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="tensors of the same steps" if seen else "two equal lengths",
            help="print both shapes, and compare the lengths with the number of environments, the steps of a rollout "
            "and the minibatch"
            if seen
            else "print both shapes on that line, and where each of the two is made",
            confidence=0.5 if seen else 0.3,
        )
