"""After hundreds of steps the weights are all but where they began."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.updates import resumed
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class WeightsHardlyMove(Rule):
    """After hundreds of steps the weights are all but where they began.

    ## What it checks
    How far all networks of an optimizer have moved from audit to audit, summed up, against their size: less than half
    a percent over 100 steps or more. There was a gradient at all of the steps that were seen. Or, where a policy is
    learned by ratios: in no rollout that was looked at, from the first on, did many steps change the chance of any
    action by as much as 0.2 %. Networks out of a file, and those of a million weights and more, are not judged: they
    are fine-tuned.

    ## Why it matters
    At that pace the budget runs out before anything is learned.

    ## Likely causes
    1. Plain SGD with a learning rate that suits Adam: its step is the rate times the gradient, not the rate. Confirm:
       the class of the optimizer.
    2. The learning rate is too low by powers of ten. Confirm: print it; 1e-4 to 1e-3 is usual for Adam.
    3. Gradients are averaged, scaled or clipped to next to nothing. Confirm: print their norm just before the step.

    ## What to try first
    Adam with a learning rate of 3e-4.

    ## When it is fine
    A policy that has nothing left to learn: then the gradients vanish, and nothing is said.

    ## References
    Ben Braiek and Khomh, *TheDeepChecker* (update over weight between 10⁻⁴ and 10⁻¹).
    """

    code: ClassVar[str] = "OPT315"
    name: ClassVar[str] = "weights-hardly-move"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("OPT302", "OPT310", "GRA002", "GRA003", "OPT003")

    moved: float = 5e-3  # of the size of the weights, over the whole run
    steps: int = 100  # of the optimizer, between audits
    gradient: float = 1e-4  # norm at the steps that were seen, in the median
    largest: int = 1_000_000  # weights
    ratio: float = 2e-3  # by which the chance of an action changes, at most
    terms: int = 6  # ratios of a rollout that were looked at
    rollouts: int = 3  # with such ratios

    def check(self, evidence: Script) -> Iterator[Finding]:
        if resumed(evidence) or evidence.noted("compile"):
            raise NotEnough("weights came out of a file")
        judged = False
        for name, each in evidence.optimizers.items():
            modules = [key for key in each.get("modules") or () if evidence.modules.get(key, {}).get("trainable")]
            if not 100 <= int(each.get("numel") or 0) < self.largest or not modules:
                continue
            if any(evidence.modules[key]["trainable"] != evidence.modules[key].get("tensors") for key in modules):
                continue  # most of it may be frozen: adapters beside a large network
            moves = [
                event
                for _, event in evidence.events("weights")
                if event["module"] in modules and event.get("change") is not None and event.get("trained")
            ]
            since = [sum(int(e.get("since") or 0) for e in moves if e["module"] == key) for key in modules]
            total = [sum(float(e["change"]) for e in moves if e["module"] == key) for key in modules]
            norms = [
                float(step["grad_norm"])
                for _, step in evidence.events("step")
                if step["optimizer"] == name and step.get("grad_norm") is not None
            ]
            stepped = int(each.get("steps") or 0)
            if not since or min(since) < self.steps or stepped < self.steps or len(norms) < 4:
                continue
            judged = True
            furthest = self._furthest(evidence, modules)
            still = max(total) < self.moved
            if (still or 0 < furthest < self.ratio) and np.median(norms) > self.gradient and min(norms) > 0:
                created = each.get("created")
                yield self.finding(
                    f"{stepped} steps of optimizer {name} hardly move its weights",
                    where=Where(file=created[0], line=created[1]) if created else None,
                    seen=f"{', '.join(modules)} moved by {max(total):.2%} of their size in all"
                    + ("; " if still else f", no action became more likely by {furthest:.2%} in a rollout; ")
                    + f"{each['class']}, learning rate {float(each.get('lr_highest') or 0):g}, "
                    f"median gradient {np.median(norms):.3g}",
                    expected="1 % in a hundred steps, or more",
                    help="raise the learning rate by 100; plain SGD needs another one than Adam",
                    confidence=0.85,
                )
        if not judged:
            raise NotEnough(f"no optimizer was seen to move a network over {self.steps} steps")

    def _furthest(self, script: Script, modules: list[str]) -> float:
        """The largest change of a ratio, in any rollout; 0 where too few were seen."""
        changes = []
        for audit in script.audits:
            terms = [each for each in audit.terms("policy") if "ratio" in each.arrays]
            if len(terms) >= self.terms and all(set(each.get("reached") or ()) & set(modules) for each in terms):
                changes.append(max(float(np.abs(each.arrays["ratio"] - 1.0).max()) for each in terms))
        first = len(changes) >= self.rollouts and script.audits[0].update == 0
        return max(changes) if first else 0.0
