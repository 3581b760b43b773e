"""The network that acts is in an optimizer, and no loss leads to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.updates import resumed
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActingNetworkInNoLoss(Rule):
    """The network that acts is in an optimizer, and no loss leads to it.

    ## What it checks
    A network is called on the current observations, and an optimizer that steps holds all of it. No loss that is run
    leads to it, at any audit, or its gradient is exactly 0 in every step; and its weights never change. Exact.

    ## Why it matters
    It never learns, while losses are computed and steps are taken.

    ## Likely causes
    1. Its output is detached, or taken through numpy, on the way into the loss. Confirm: print `requires_grad` of each
       term of the loss.
    2. The loss is computed with another network, such as a copy. Confirm: which network is called in the update.
    3. Its loss is computed and not added to what `backward()` is called on. Confirm: read that line.

    ## What to try first
    Print the norm of its gradients after `backward()`.

    ## When it is fine
    A network that is to be trained later in the run: nothing is said where only the beginning was seen.

    ## References
    PyTorch, *Autograd mechanics*.
    """

    code: ClassVar[str] = "GRA302"
    name: ClassVar[str] = "acting-network-in-no-loss"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("GRA301", "NET304", "GRA305")

    audits: int = 3  # in which losses were seen
    losses: int = 8  # that were looked into
    steps: int = 20  # of its optimizer
    far: float = 0.3  # of the updates of the run, to which the audits must reach

    def check(self, evidence: Script) -> Iterator[Finding]:
        losses = [(audit.number, each) for audit, each in evidence.events("loss")]
        last = max((audit.update for audit in evidence.audits), default=0)
        if resumed(evidence) or evidence.noted("compile"):
            raise NotEnough("weights came out of a file, or losses may be out of sight")
        if len(losses) < self.losses or len({number for number, _ in losses}) < self.audits:
            raise NotEnough(f"{len(losses)} losses were looked into")
        if last < self.far * int(evidence.counts.get("updates") or 0):
            raise NotEnough("the audits are from the beginning of the run only")
        idle = self._idle(evidence)
        reached = {name for _, each in losses for name in each["reached"]} - idle
        around = {str(evidence.modules.get(name, {}).get("inside")) for name in reached}
        for name, thing in evidence.modules.items():
            owners, trainable = thing.get("owners") or {}, int(thing.get("trainable") or 0)
            if not trainable or not thing.get("acting") or name in reached or name in around:
                continue
            if (thing.get("inside") in reached and name not in idle) or max(owners.values(), default=0) < trainable:
                continue
            steps = max(int(evidence.optimizers.get(each, {}).get("steps") or 0) for each in owners)
            looks = [each for _, each in evidence.events("weights") if each["module"] == name]
            if steps < self.steps or len(looks) < self.audits or len({each["fingerprint"] for each in looks}) > 1:
                continue
            calls = [each for _, each in evidence.events("call") if each["module"] == name and each.get("acting")]
            yield self.finding(
                f"no loss leads to {name}, which acts",
                where=calls[0].where if calls else None,
                seen=f"{'gradients of exactly 0 alone' if name in idle else f'0 of {len(losses)} losses lead to it'}; "
                f"its optimizer took {steps} steps, and it is the same at {len(looks)} looks",
                expected="a loss that leads to the network that acts",
                help=f"look for detach(), no_grad() or numpy between {name} and the loss",
                confidence=0.95,
            )

    def _idle(self, script: Script) -> set[str]:
        """Networks that losses lead to, in form: their gradient is exactly 0 in every step, as under a weight of 0."""
        norms: dict[str, list[tuple[int, float]]] = {}
        for audit, step in script.events("step"):
            for name, norm in (step.get("grad_norms") or {}).items():
                norms.setdefault(name, []).append((audit.number, float("nan") if norm is None else float(norm)))
        fitted = {name for _, term in script.terms("regression") for name in term.get("reached") or ()}
        return {
            name
            for name, seen in norms.items()
            if name not in fitted
            and len(seen) >= self.losses
            and len({number for number, _ in seen}) >= self.audits
            and all(norm == 0.0 for _, norm in seen)
        }
