"""The discount that is really applied is not the one that was set."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.target_settings import squared, told
from rldebug.forensics.targets import discount, fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DiscountNotAsSet(Rule):
    """The discount that is really applied is not the one that was set.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. Its coefficient of what follows is the discount as
    it is really applied. It is held against the setting of that name, be it an option or what lies at hand where the
    loss is computed: nothing is discounted, or twice, or with another number. A power of the setting, beyond its
    square, may be that of longer steps, and is left alone; so is another number than a constant of the module, which
    may be meant for something else. Without a setting, only a discount that is the exact square of a usual one is
    spoken of.

    ## Why it matters
    The program solves another task than the one it was told to: with γ² it looks half as far ahead.

    ## Likely causes
    1. The discount is already in the mask, or in the stored value, and is applied again. Confirm: follow γ to the
       target.
    2. It is passed as λ, and λ as γ. Confirm: compare the order of arguments.
    3. The function has a default of its own, and the setting is not handed over. Confirm: print it inside.

    ## What to try first
    Print reward, next value and target of one row, and solve for γ.

    ## When it is fine
    Where one step of the learner is two of the environment, γ² may be meant.

    ## References
    Sutton & Barto 2018, section 3.3.
    Seen in the wild: RWD-09 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "DIS311"
    name: ClassVar[str] = "discount-not-as-set"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "discount"
    follows: ClassVar[tuple[str, ...]] = ("BUF371", "DIS390", "VAL396")

    near: float = 1e-3  # between the discount and its setting
    written: float = 3e-5  # between another number and one of three digits: nobody sets 0.97063
    skipped: int = 16  # steps of an environment that may be one of the learner

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        gamma = discount(evidence)
        if gamma is None:
            raise NotEnough("the discount of the targets is not known, or not the same in all")
        fit = next(each for each in fits if each.gamma is not None)
        setting = told(evidence, "discount")
        lam = told(evidence, "lam")
        gammas = [each.gamma for each in fits if each.gamma is not None]
        if setting is not None and any(abs(each - setting) < self.near for each in gammas):
            return
        how, expected = None, ""
        if setting is not None:
            twice, swapped = abs(gamma - setting**2) < 1e-4, lam is not None and abs(gamma - lam) < 1e-4
            none = abs(gamma - 1.0) < 1e-4
            other = (
                told(evidence, "discount", constants=False) is not None
                and abs(gamma - round(gamma, 3)) < self.written
                and not self._of_longer_steps(gamma, setting)
            )
            how = (
                "the setting applied twice" if twice
                else "the setting of λ" if swapped
                else "1: nothing is discounted" if none
                else "another number than the setting" if other
                else None
            )  # fmt: skip
            expected = f"{setting:g}, as it was set"
        if how is None and (root := squared(gamma)) is not None:
            how, expected = f"{root:g}², as if it were applied twice", f"{root:g}"
        if how is not None and not any(each.mistake or each.order for each in fits):
            yield self.finding(
                f"the discount that is applied is {gamma:.5g}",
                where=fit.where,
                seen=f"{gamma:.5g} in {fit.rows} steps: {how}",
                expected=expected,
                help="follow γ from where it is set to the line that makes the target",
                confidence=0.8 if setting is None or how.startswith("another") else 0.9,
            )

    def _of_longer_steps(self, gamma: float, setting: float) -> bool:
        """Whether one is a power of the other: a step of the learner may be several of the environment."""
        if not (0.0 < gamma < 1.0 and 0.0 < setting < 1.0):
            return True
        power = math.log(gamma) / math.log(setting)
        return any(abs(each - round(each)) < 0.02 and 2 <= round(each) <= self.skipped for each in (power, 1 / power))
