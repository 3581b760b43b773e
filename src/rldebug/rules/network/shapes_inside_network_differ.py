"""Two tensors inside a network do not fit together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import operands_told, shapes_meet_badly
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ShapesInsideNetworkDiffer(Rule):
    """Two tensors inside a network do not fit together.

    ## What it checks
    Shapes did not fit inside a network, or in a product of matrices such as attention's.

    ## Why it matters
    The network cannot be computed.

    ## Likely causes
    1. Two branches were made with different widths, as with a skip connection or the two streams of a dueling network.
       Confirm: print both shapes.
    2. One of the tensors has a batch or a step axis and the other has none. Confirm: the same.
    3. A matrix is to be transposed: keys and queries are multiplied along their last axis. Confirm: the same.

    ## What to try first
    Print the shapes of both on the line before.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Broadcasting semantics*; `torch.bmm`; `torch.einsum`.
    """

    code: ClassVar[str] = "NET434"
    name: ClassVar[str] = "shapes-inside-network-differ"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        products = evidence.says(
            r"einsum\(\): (the number of subscripts|subscript \w+ has size|operands do not broadcast)",
            "Expected size for first two dimensions of batch2 tensor",
            r"batch[12] must be a 3D tensor",
            r"bilinear\(\): input\d size does not match",
            "was expecting embedding dimension of|key shape .* does not match value shape",
        )
        return products or (shapes_meet_badly(evidence) and place(evidence) in ("network", "preprocessing"))

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "two tensors inside the network do not fit together",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="shapes that fit",
            help="print both shapes: make the branches equally wide, give both the same batch and step axes, and "
            "transpose keys for a product: keys.transpose(-1, -2)",
            confidence=0.75,
        )
