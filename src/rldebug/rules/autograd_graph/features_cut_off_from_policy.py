"""The policy reads features that only the value loss trains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FeaturesCutOffFromPolicy(Rule):
    """The policy loss never reaches the layers that the policy reads.

    ## What it checks
    A loss that is the sum of a policy loss and a value loss. What the first layers of the policy take in is, number for
    number, what other layers give to the value head in the same pass; but it comes to the policy as data. Those layers
    learn from the values and from no other term of any loss.

    ## Why it matters
    The policy has to do with features that were made to predict returns. What tells two actions apart, and not two
    returns, is never learned.

    ## Likely causes
    1. `detach()` stands at the policy head, and belongs to another tensor: the advantage, the target, or the features
       of the value head. Confirm: read the lines between the shared layers and the two heads.
    2. The features are computed under `no_grad()` for the policy. Confirm: `features.requires_grad`.

    ## What to try first
    Give the policy head the features as they are; where one head is to be kept from the shared layers, the value head.

    ## When it is fine
    Where features are to be learned from values alone, on purpose. With a loss of their own (a reconstruction, a
    contrast, a model) it is silent, and off-policy, where the critic has the actions as well.

    ## References
    Cobbe et al., *Phasic Policy Gradient* (2021), on what sharing features between the two does.
    """

    code: ClassVar[str] = "GRA520"
    name: ClassVar[str] = "features-cut-off-from-policy"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    losses: int = 4  # of a policy and a value together, in two audits at the least

    def check(self, evidence: Script) -> Iterator[Finding]:
        found: list[tuple[int, Event]] = []
        judged = 0
        layers: set[str] = set()
        others: list[set[str]] = []
        for audit in evidence.audits:
            for loss, terms in audit.losses:
                policy = [term for term in terms if term["kind"] == "policy" and "cut_off" in term.detail]
                judged += bool(policy)
                cut = [term for term in policy if term["cut_off"]]
                if cut and len(cut) == len(policy):
                    found.append((audit.number, cut[0]))
                    layers |= set(cut[0]["cut_off"])
                else:
                    others.append(set(loss.get("reached") or ()))
        if judged < self.losses:
            raise NotEnough(f"{judged} losses of a policy, needs {self.losses}")
        if len(found) < self.losses or len({number for number, _ in found}) < 2:
            return
        if any(layers & each for each in others):
            return  # they are learned from something else too
        term = found[0][1]
        named = " and ".join(sorted(layers))
        yield self.finding(
            "the policy loss does not reach the layers that the policy reads: the value loss alone trains them",
            where=term.where,
            seen=f"in {len(found)} losses the policy takes in as data what layers of {named} give to the value head",
            expected="a policy loss that reaches the features, or another loss that is made for them",
            help="detach nothing between the shared layers and the policy head",
            confidence=0.75,
        )
