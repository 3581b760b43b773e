"""An optimizer holds parameters that are frozen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.graph import Graph
from rldebug.evidence.tensors import listed
from rldebug.finding import Finding, Severity, thousands
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FrozenParameterInOptimizer(Rule):
    """An optimizer holds parameters that are frozen.

    ## What it checks
    Parameters with `requires_grad` False in the groups of an optimizer that was given. A warning where all that an
    optimizer holds is frozen, so that its steps do nothing; a note where a part is.

    ## Why it matters
    They never get a gradient, so that a step passes them over; if they were frozen for a moment and not thawed, they
    stay as they are for good.

    ## Likely causes
    1. The critic is frozen while the actor learns, and `requires_grad_(True)` never comes, or the graph was looked at
       in between. Confirm: `requires_grad` at the critic's own backward pass.
    2. A pretrained part is frozen on purpose, and was left in the optimizer. Confirm: the finding names it.

    ## What to try first
    Print `[p.requires_grad for g in optimizer.param_groups for p in g["params"]]` before the step.

    ## When it is fine
    A critic that is frozen just for the actor's loss, as Spinning Up does. A pretrained part: leave it out of the
    optimizer.

    ## References
    Achiam, *Spinning Up*, DDPG (freezing the Q-network while the policy learns).
    """

    code: ClassVar[str] = "OPT802"
    name: ClassVar[str] = "frozen-parameter-in-optimizer"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Graph"
    follows: ClassVar[tuple[str, ...]] = ("NET304", "OPT318", "GRA003")

    def concerns(self, evidence: Graph) -> bool:
        return bool(evidence.losses)

    def check(self, evidence: Graph) -> Iterator[Finding]:
        if not evidence.optimizers:
            raise NotEnough("no optimizers were given")
        if evidence.update is not None:
            return  # of a run: what is frozen at one moment of it, such as a critic during the actor's loss, may thaw
        for name in evidence.optimizers:
            own = [each for each in evidence.parameters if name in each.optimizers]
            frozen = [each for each in own if not each.trainable]
            if not frozen:
                continue
            whole = len(frozen) == len(own)
            count, of = (thousands(sum(each.numel for each in those)) for those in (frozen, own))
            yield self.finding(
                f"{'everything' if whole else 'a part of what'} optimizer {name} holds is frozen",
                where=evidence.where(tensor=frozen[0].name),
                seen=f"requires_grad is False for {listed([each.name for each in frozen])}, {count} of {of} weights",
                expected="parameters that require a gradient",
                help="thaw them with requires_grad_(True), or leave them out of the optimizer",
                severity="warning" if whole else "note",
                confidence=0.8,
            )
