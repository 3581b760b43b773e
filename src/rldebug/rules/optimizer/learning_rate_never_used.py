"""The learning rate is given, and no line uses it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from rldebug.evidence.options import unread
from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LearningRateNeverUsed(Rule):
    """The learning rate is given, and no line uses it.

    ## What it checks
    The source of the program, when it has ended. A setting whose name means a learning rate (an option, a field of a
    config, a constant, a parameter of a function) is used in no line: it is at most handed on under the same name, or
    printed. Where settings are read by names that are made up at run time, nothing is said. And no optimizer of the
    program began with that number.

    ## Why it matters
    The optimizer works with another rate than the one that is set, often the default of its class.

    ## Likely causes
    1. The optimizer is built without `lr=`. Confirm: print `optimizer.param_groups[0]["lr"]`.
    2. The number is written out where the optimizer is built. Confirm: look there.

    ## What to try first
    Hand the setting to the optimizer.

    ## When it is fine
    Where an optimizer has the same rate by another way: nothing is said then.

    ## References
    PyTorch documentation, *torch.optim*.
    """

    code: ClassVar[str] = "OPT390"
    name: ClassVar[str] = "learning-rate-never-used"
    severity: ClassVar[Severity] = "warning"
    status: ClassVar[Literal["stable", "nursery"]] = "nursery"  # a setting may be left over on purpose
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        if "arguments" in evidence.counts.get("off", ()) or not evidence.counts.get("updates"):
            raise NotEnough("options were not watched, or nothing was trained")
        rates = [float(each["lr_first"]) for each in evidence.optimizers.values() if each.get("lr_first") is not None]
        if not rates:
            raise NotEnough("no optimizer was seen")
        for each in unread(evidence, "lr", "policy_lr", "value_lr", "alpha_lr"):
            if each.value is None or any(abs(rate - each.value) <= 1e-6 * abs(rate) for rate in rates):
                continue
            yield self.finding(
                "the learning rate that is set is used nowhere",
                where=each.place,
                seen=f"{each.seen}; the optimizers began with {', '.join(f'{rate:g}' for rate in sorted(set(rates)))}",
                expected="an optimizer with that learning rate",
                help=f"build the optimizer with lr={each.name}",
                confidence=0.85,
            )
            return
