"""A layer is given another width than it was made for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import at, shown
from rldebug.evidence.crashes.signs import sizes_told, told, width_refused
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LayerWidthsDiffer(Rule):
    """A layer is given another width than it was made for.

    ## What it checks
    A layer that is not the first of its network refused the shape of its input; or the first did, though its input has
    the width of the environment's observation.

    ## Why it matters
    The network cannot be computed.

    ## Likely causes
    1. Two layers that follow one another were made with different widths. Confirm: compare the output of the one with
       the input of the other.
    2. The size after a convolution was computed for another image. Confirm: print the shape before the first linear
       layer.
    3. The first layer was made for another environment. Confirm: compare it with `env.observation_space.shape`.

    ## What to try first
    Print the shape before and after each layer once.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.nn.Linear`.
    """

    code: ClassVar[str] = "NET402"
    name: ClassVar[str] = "layer-widths-differ"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return width_refused(evidence) == "network"

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        if evidence.graph.get("fault") == "features":
            yield self._declared(evidence)
            return
        layer = evidence.layer or {}
        weight = layer.get("weight") or {}
        made = f"; the weight of this {layer['type']} is {told(weight)}" if weight else ""
        yield self.finding(
            "a layer was given another width than it was made for",
            where=evidence.where,
            seen=f"{evidence.said}{made}{sizes_told(evidence)}",
            expected="each layer as wide at its input as the one before at its output",
            help="make this layer for the width that arrives; print the shapes before and after each layer",
            confidence=0.85,
        )

    def _declared(self, evidence: Crash) -> Finding:
        """An extractor gives another number of features than it says, and what comes behind it was made for that."""
        graph = evidence.graph
        who, says, gives, made = graph["layer"], graph["says"], graph["gives"], graph.get("made")
        return self.finding(
            f"{who} gives {gives} features, and its features_dim says {says}",
            where=at(evidence, made),
            seen=f"{evidence.said}; the last layer of {who} has {gives} outputs"
            + (f", in {shown(evidence, made)}" if made else ""),
            expected=f"{says} outputs, or a features_dim of {gives}",
            help=f"make the last layer of {who} as wide as features_dim, which it is given, or pass {gives} to "
            "super().__init__()",
            confidence=0.95,
        )
