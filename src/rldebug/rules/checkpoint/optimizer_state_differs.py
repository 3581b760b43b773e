"""The saved state of an optimizer is of other parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class OptimizerStateDiffers(Rule):
    """The saved state of an optimizer is of other parameters.

    ## What it checks
    `load_state_dict` of an optimizer refused, because its groups hold another number of parameters than were saved.

    ## Why it matters
    The state is kept by place, not by name: it can only be put back where the same parameters stand in the same order.

    ## Likely causes
    1. The actor's state was given to the critic's optimizer, or that of one optimizer for both to one for each.
       Confirm: print `len(group["params"])` of both.
    2. Parameters were frozen, added or left out since: a log-std, a temperature, a new head. Confirm: the same.
    3. The optimizer was made before all layers were. Confirm: look at the order.

    ## What to try first
    Make the optimizer from the same parameters in the same order as when it was saved.

    ## When it is fine
    Never: the program has ended. Leaving the state out begins again with an optimizer that knows nothing.

    ## References
    PyTorch, `torch.optim.Optimizer.load_state_dict`.
    """

    code: ClassVar[str] = "CKP440"
    name: ClassVar[str] = "optimizer-state-differs"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("loaded state dict (contains a parameter group|has a different number of parameter)")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        groups = "a different number" in evidence.message
        what = "number of groups" if groups else "number of parameters in a group"
        yield self.finding(
            f"the saved optimizer has another {what} than this one",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="the same parameters in the same groups and order",
            help='compare [len(group["params"]) for group in …["param_groups"]] of both: is it the state of another '
            "optimizer (actor, critic, temperature), or were parameters frozen or added since?",
            confidence=0.95,
        )
