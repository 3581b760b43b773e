"""The value loss can be lowered by changing the target network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LossReachesTarget(Rule):
    """The value loss reaches the target network.

    ## What it checks
    The autograd graph of the value loss leads to parameters of the target network. Exact; the graph is walked, not run.
    An error where an optimizer owns those parameters; else a warning, since their gradients are computed and dropped.

    ## Why it matters
    Targets are data. If the loss can move them it moves them towards the predictions, which is not learning; and even
    where nobody takes that step, every update pays for it in time and memory.

    ## Likely causes
    1. The target's forward pass is not under `torch.no_grad()`. Confirm: `target.requires_grad` of the regression
       target is True.
    2. A `.detach()` was lost when the line was rewritten. Confirm: the same.

    ## What to try first
    Put the computation of the target under `with torch.no_grad():`.

    ## When it is fine
    A policy loss that is evaluated through the target critic, as some methods do, is not counted.

    ## References
    pytorch/rl PR 322. Baird 1995, *Residual Algorithms*.
    """

    code: ClassVar[str] = "TGT004"
    name: ClassVar[str] = "loss-reaches-target"
    severity: ClassVar[Severity] = "error"
    facts: ClassVar[tuple[str, ...]] = ("reach",)
    follows: ClassVar[tuple[str, ...]] = ("TGT002", "TGT003")

    def check(self, evidence: Run) -> Iterator[Finding]:
        alone = "policy" not in evidence.meta.get("modules", {})
        for reading, fact in evidence.facts("reach"):
            for name, modules in fact.items():
                hit: dict[str, Any] = modules.get("target", {})
                if not (name == "value" or (name == "total" and alone)) or not hit.get("reached"):
                    continue
                if self._shared(evidence, hit):
                    return
                owned = self._owned(evidence)
                yield self.finding(
                    f"the {name} loss reaches the target network",
                    where=replace(evidence.call("update"), update=reading.update, env_step=reading.env_step),
                    seen=f"its graph leads to {hit['reached']} of the target's {hit['of']} parameter tensors; "
                    + ("an optimizer owns them" if owned else "no watched optimizer owns them"),
                    expected="none: targets are data",
                    help="compute the target under torch.no_grad(), or detach it",
                    confidence=0.97,
                    severity="error" if owned else "warning",
                )
                return

    def _owned(self, run: Run) -> bool:
        return any(
            any(fact.get("modules", {}).get("target", {}).get("owners", {}).values())
            for _, fact in run.facts("parameters")
        )

    def _shared(self, run: Run, hit: dict[str, Any]) -> bool:
        """The target is the online network, or shares parameters with it: then reaching one is reaching the other."""
        distance = run["target_net/distance"].finite
        if len(distance) >= 3 and distance.max() == 0:
            return True
        for _, fact in run.facts("parameters"):
            target: dict[str, Any] = fact.get("modules", {}).get("target", {})
            own = set(target.get("unowned", ()))
            return bool(own) and any(target.get("owners", {}).values()) and own <= set(hit["missing"])
        return False
