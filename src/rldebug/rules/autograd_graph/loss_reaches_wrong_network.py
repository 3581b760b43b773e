"""A loss reaches the parameters of a network that is not its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LossReachesWrongNetwork(Rule):
    """The value loss trains the policy, or a policy-gradient loss the critic.

    ## What it checks
    The autograd graph of each loss, walked but not run: which parameters it leads to. Policy and critic are two
    networks without a common parameter, each loss reaches its own, and yet the value loss also reaches all of the
    policy, or a policy-gradient loss (one with log-probs and advantages) all of the critic.

    ## Why it matters
    The gradient goes where it was never meant to go. A value loss makes the policy choose actions whose value is easy
    to predict; a policy loss makes the critic shrink the advantages of actions that were good.

    ## Likely causes
    1. The target is built from the policy's actions or log-probs outside `torch.no_grad()`. Confirm: the value loss
       reaches the policy; `target.requires_grad` is True where the loss is computed.
    2. The advantage is `target − value` without `.detach()`. Confirm: the policy loss reaches the critic; see
       `data-carries-graph`.
    3. A reward that contains the policy's own log-prob (a penalty for leaving a reference policy), with its graph.
       Confirm: detach the reward and look again.

    ## What to try first
    Detach target and advantage where they are computed.

    ## When it is fine
    The actor losses of SAC, DDPG and TD3 go through the critic on purpose: without advantages the rule does not judge
    them. A loss that reaches a part of the other network (an encoder that one of them owns and both use) is left
    alone.

    ## References
    Lillicrap et al., *Continuous control with deep reinforcement learning*. Mnih et al., *Asynchronous Methods for
    Deep Reinforcement Learning*.
    """

    code: ClassVar[str] = "GRA007"
    name: ClassVar[str] = "loss-reaches-wrong-network"
    severity: ClassVar[Severity] = "error"
    facts: ClassVar[tuple[str, ...]] = ("reach", "parameters")
    follows: ClassVar[tuple[str, ...]] = ("GRA006",)

    def check(self, evidence: Run) -> Iterator[Finding]:
        if any(value["shared"] for _, value in evidence.facts("parameters")):
            return
        policy_gradient = any({"logp_new", "advantage"} <= set(value) for _, value in evidence.facts("shapes"))
        for loss, own, other in (("value", "critic", "policy"), ("policy", "policy", "critic")):
            if loss == "policy" and not policy_gradient:
                continue
            recorded = [(reading, reach[loss]) for reading, reach in evidence.facts("reach") if loss in reach]
            if not recorded or not all(_all(reach.get(other)) and _some(reach.get(own)) for _, reach in recorded):
                continue
            first, reach = recorded[0]
            hit, times = reach[other], len(recorded)
            yield self.finding(
                f"the {loss} loss reaches the {other}",
                where=replace(
                    evidence.call("update"), update=first.update, env_step=first.env_step, tensor=f"loss/{loss}"
                ),
                seen=f"its graph leads to {hit['reached']} of {hit['of']} parameter tensors of the {other} at {times} "
                f"of {times} readings; the two networks share none",
                expected=f"the {loss} loss to reach the {own} only",
                help="detach the target: nothing of the policy may be differentiated in it"
                if loss == "value"
                else "detach the advantage before it multiplies the log-probs",
                confidence=0.95,
            )


def _all(entry: dict[str, Any] | None) -> bool:
    return entry is not None and entry["of"] > 0 and entry["reached"] == entry["of"]


def _some(entry: dict[str, Any] | None) -> bool:
    return entry is not None and entry["reached"] > 0
