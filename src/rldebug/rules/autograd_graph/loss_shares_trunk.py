"""Policy loss and value loss train the same parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LossSharesTrunk(Rule):
    """Policy loss and value loss train the same parameters.

    ## What it checks
    Policy and critic have parameters in common, and the graphs of both losses lead to them. The rule counts how many.

    ## Why it matters
    It is a choice, not a fault. But the two gradients add up in the shared layers, so their relative size decides who
    shapes the features: with returns in the hundreds the value loss drowns the policy loss unless it is scaled.

    ## Likely causes
    1. One network with two heads, on purpose. Confirm: the count below is that of the trunk.
    2. One network object passed for both by mistake. Confirm: the count is that of all parameters, heads included.

    ## What to try first
    Compare the gradient norms of the two losses in the trunk, and set the value coefficient accordingly.

    ## When it is fine
    Nearly always; this is a note.

    ## References
    Huang et al., *The 37 Implementation Details of PPO* (shared and separate networks). Cobbe et al., *Phasic Policy
    Gradient* (interference between the two objectives).
    """

    code: ClassVar[str] = "GRA008"
    name: ClassVar[str] = "loss-shares-trunk"
    severity: ClassVar[Severity] = "note"
    facts: ClassVar[tuple[str, ...]] = ("reach", "parameters")

    def check(self, evidence: Run) -> Iterator[Finding]:
        shared = max((value["shared"] for _, value in evidence.facts("parameters")), default=0)
        if not shared:
            return
        for reading, reach in evidence.facts("reach"):
            if not {"policy", "value"} <= set(reach):
                continue
            own, other = reach["policy"].get("policy"), reach["value"].get("policy")
            if not own or not other:
                continue
            # Two subsets of one network overlap by at least this much; of two networks, only in what they share.
            both = min(own["reached"] + other["reached"] - own["of"], shared)
            if own["of"] > shared:
                both = min(other["reached"], shared)
            if both <= 0:
                continue
            yield self.finding(
                "policy loss and value loss train the same parameters",
                where=replace(evidence.call("update"), update=reading.update, env_step=reading.env_step),
                seen=f"both losses reach {both} of the {own['of']} parameter tensors of the policy "
                f"(policy loss {own['reached']}, value loss {other['reached']})",
                expected="a shared trunk, if you meant to have one",
                help="compare the two losses' gradient norms in the trunk, and choose the value coefficient by them",
                confidence=0.99,
            )
            return
