"""A parameter is in two of the given optimizers, or in one of them twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.graph import Graph
from rldebug.evidence.tensors import listed
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ParameterHeldTwice(Rule):
    """Parameters of a graph are in two optimizers, or in one of them twice.

    ## What it checks
    The groups of all optimizers that were given, against the parameters of the modules. A warning where all of a
    module is held twice, a note where a part is: a trunk that two optimizers share.

    ## Why it matters
    The same gradient is applied twice, or that of one loss by the optimizer meant for the other, with two sets of
    running averages that do not know of each other.

    ## Likely causes
    1. One optimizer was made from the whole agent, another from a part of it. Confirm: the finding names that part.
    2. A trunk is shared, and both optimizers hold it. Confirm: only the trunk is named.

    ## What to try first
    Give each parameter to one optimizer, and sum the losses that train it.

    ## When it is fine
    Phases that take turns, each with an optimizer of its own.

    ## References
    PyTorch, `torch.optim` (per-parameter options). Cobbe et al., *Phasic Policy Gradient*.
    """

    code: ClassVar[str] = "OPT801"
    name: ClassVar[str] = "parameter-held-twice"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Graph"
    follows: ClassVar[tuple[str, ...]] = ("OPT002", "OPT308")

    def concerns(self, evidence: Graph) -> bool:
        return bool(evidence.losses)

    def check(self, evidence: Graph) -> Iterator[Finding]:
        if not evidence.optimizers:
            raise NotEnough("no optimizers were given")
        for module in evidence.modules:
            own = evidence.of(module)
            twice = [each for each in own if len(each.optimizers) > 1]
            if not twice:
                continue
            whole = len(twice) == len(own)
            owners = list(dict.fromkeys(name for each in twice for name in each.optimizers))
            told = " and in ".join(owners) if len(owners) > 1 else f"{owners[0]} twice"
            yield self.finding(
                f"{'all' if whole else 'a part'} of {module} is in {told}",
                where=evidence.where(tensor=twice[0].name),
                seen=f"{len(twice)} of {len(own)} tensors ({listed([each.name for each in twice])}) are in {told}",
                expected="every parameter in exactly one optimizer",
                help="build each optimizer from its own network's parameters",
                severity="warning" if whole else "note",
                confidence=0.85,
            )
