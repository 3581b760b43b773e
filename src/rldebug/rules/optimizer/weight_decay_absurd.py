"""Weight decay is so strong that it decides what the weights are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class WeightDecayAbsurd(Rule):
    """Weight decay is so strong that it decides what the weights are.

    ## What it checks
    The weight decay of each optimizer that steps. Where it is added to the gradient (Adam, RMSprop): 0.3 or more,
    where 0.0001 to 0.01 is usual. Where it shrinks the weights by itself (AdamW, and SGD): learning rate times decay
    halves the weights within some hundred steps.

    ## Why it matters
    The weights are drawn to 0 faster than the losses can hold them: values and log-probs flatten.

    ## Likely causes
    1. Another number was handed over in its place, such as a momentum, a discount or an `eps`. Confirm: print
       `optimizer.param_groups[0]`.
    2. It is off by some powers of ten. Confirm: the same.

    ## What to try first
    No weight decay.

    ## When it is fine
    Never seen in working reinforcement learning.

    ## References
    Loshchilov and Hutter, *Decoupled Weight Decay Regularization*.
    """

    code: ClassVar[str] = "OPT311"
    name: ClassVar[str] = "weight-decay-absurd"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "optimizer"

    coupled: float = 0.3  # where the gradient is rescaled afterwards
    per_step: float = 2e-3  # learning rate times decay
    weights: int = 100  # of an optimizer; fewer are not judged
    steps: int = 50  # of the optimizer

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = False
        for name, each in evidence.optimizers.items():
            settings = each.get("settings") or {}
            if int(each.get("numel") or 0) < self.weights or int(each.get("steps") or 0) < self.steps:
                continue
            judged = True
            decay = settings.get("weight_decay")
            if not isinstance(decay, (int, float)) or isinstance(decay, bool) or decay <= 0:
                continue
            rate = float(each.get("lr_highest") or 0.0)
            if not self._absurd(str(each.get("class")), settings, float(decay), rate):
                continue
            created = each.get("created")
            yield self.finding(
                f"the weight decay of optimizer {name} is {decay:g}",
                where=Where(file=created[0], line=created[1]) if created else None,
                seen=f"{each['class']} with weight_decay={decay:g}, learning rate {rate:g}, over {each['steps']} steps",
                expected="0, or up to 0.01",
                help="leave weight_decay out, and train again",
                confidence=0.9,
            )
        if not judged:
            raise NotEnough(f"no optimizer of {self.weights} weights took {self.steps} steps")

    def _absurd(self, kind: str, settings: dict[str, Any], decay: float, rate: float) -> bool:
        if kind in ("AdamW", "SGD") or settings.get("decoupled_weight_decay"):
            return rate * decay >= self.per_step
        return kind in ("Adam", "RMSprop", "NAdam", "RAdam", "Adamax", "Adagrad") and decay >= self.coupled
