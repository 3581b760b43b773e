"""The λ that is really applied is not the one that was set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.target_settings import told
from rldebug.forensics.targets import fit_targets, fit_weights, trace_decay
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TraceDecayNotAsSet(Rule):
    """The λ that is really applied is not the one that was set.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. Its coefficients give λ as it is really applied,
    and the weights of the log-probs are the advantages that go with it. It is held against the setting of that name.

    ## Why it matters
    λ trades noise against the errors of the critic. Another one than was set makes results impossible to repeat, and
    0 or 1 by accident makes one of the two as bad as it can be.

    ## Likely causes
    1. γ and λ are swapped in a call. Confirm: compare the order of arguments.
    2. λ is missing in the recursion, or is in it twice. Confirm: read it.
    3. The function has a default of its own, and the setting is not handed over. Confirm: print it inside.

    ## What to try first
    Print λ where the recursion is.

    ## When it is fine
    Where the setting means something else.

    ## References
    Schulman et al. 2016, *High-Dimensional Continuous Control Using Generalized Advantage Estimation*.
    """

    code: ClassVar[str] = "ADV326"
    name: ClassVar[str] = "trace-decay-not-as-set"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "trace"
    follows: ClassVar[tuple[str, ...]] = ("ADV390",)

    near: float = 0.01  # between λ and its setting
    written: float = 2e-4  # between λ and a number of three digits: nobody sets 0.9486

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        lam, setting = trace_decay(evidence), told(evidence, "lam", constants=False)
        if lam is None or setting is None or not 0.0 <= setting <= 1.0:
            raise NotEnough("λ is not known, or was not set by a name that is known")
        if not any(each.of == "advantage" for each in fit_weights(evidence)):
            raise NotEnough("the advantages do not go with the targets: they may have a λ of their own")
        fit = next(each for each in fits if each.lam is not None)
        as_set = any(abs(each.lam - setting) <= self.near for each in fits if each.lam is not None)
        if not as_set and abs(lam - round(lam, 3)) < self.written and not fit.mistake and not fit.order:
            yield self.finding(
                f"the λ that is applied is {lam:.4g}",
                where=fit.where,
                seen=f"{lam:.4g} in {fit.rows} steps",
                expected=f"{setting:g}, as it was set",
                help="follow λ from where it is set to the recursion of the advantage",
                confidence=0.85,
            )
