"""An optimizer goes up an error that is to be made small."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.updates import held
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ErrorMaximised(Rule):
    """An optimizer goes up an error that is to be made small.

    ## What it checks
    Which way each optimizer steps (`maximize`), and the sign with which a squared or absolute error, that of a critic,
    stands in the loss that leads to its networks. The error grows with every step. Exact.

    ## Why it matters
    The critic runs away from its targets, faster and faster.

    ## Likely causes
    1. `maximize=True` was meant for the actor's optimizer. Confirm: read the line that makes it.
    2. The whole objective is turned round, the critic's error with it. Confirm: read the signs of its terms.

    ## What to try first
    Minimise: leave `maximize` out, and put the minus before what is to grow.

    ## When it is fine
    Adversaries that are to be surprised (curiosity) maximise an error of another network, not of their own critic.

    ## References
    PyTorch, `torch.optim`.
    """

    code: ClassVar[str] = "OPT313"
    name: ClassVar[str] = "error-maximised"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    losses: int = 4  # with an error in them, all of one sign

    def check(self, evidence: Script) -> Iterator[Finding]:
        rising = [name for name, each in evidence.optimizers.items() if (each.get("settings") or {}).get("maximize")]
        if not any(evidence.terms("regression")):
            raise NotEnough("no loss was seen with an error in it")
        for name in rising:
            own = held(evidence, name)
            errors = [
                term
                for _, term in evidence.terms("regression")
                if own
                and set(term.get("reached") or ()) <= own
                and {"prediction", "target"} <= set(term.arrays)
                and not term.get("nested")
            ]
            if len(errors) >= self.losses and all(float(each["coefficient"]) > 0 for each in errors):
                yield self.finding(
                    f"optimizer {name} maximises the error of {', '.join(sorted(own))}",
                    where=errors[0].where,
                    seen=f"maximize=True, and a {errors[0].get('op')} error with coefficient "
                    f"{float(errors[0]['coefficient']):g}, in {len(errors)} of {len(errors)} losses",
                    expected="an error that is minimised",
                    help="leave maximize out of this optimizer",
                    confidence=0.95,
                )
