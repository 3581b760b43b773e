"""A target of several steps is discounted by the wrong powers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.target_settings import told
from rldebug.forensics.targets import Fit, fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class SeveralStepsDiscountedWrongly(Rule):
    """A target of several steps is discounted by the wrong powers.

    ## What it checks
    Networks are asked about the observation n steps on, with n above 1. What each reward in between and the bootstrap
    are multiplied with is fitted from the numbers of the targets: rewards by 1, γ, γ² …, the bootstrap by γⁿ. Where
    all steps but the last of an episode pay the same, the windows up to an end tell in which order they count.

    ## Why it matters
    Values of what comes after the n steps are counted too much or too little, once in every n steps.

    ## Likely causes
    1. `gamma` in the line of the target, not `gamma ** n`. Confirm: read that line.
    2. The rewards of the window are added up without discount. Confirm: print the return of a window.
    3. The next observation of the first step is stored, not that of the last. Confirm: print its place in the window.
    4. A loop that folds the window with `total = r + gamma * total` goes through it in the order of time. Confirm: it
       must begin with the last step.
    5. The window is one step longer or shorter than the power. Confirm: print both lengths.

    ## What to try first
    Store `gamma ** len(window)` beside the return of the window, and multiply the bootstrap with it.

    ## When it is fine
    Never; with γ near 1 it does little harm.

    ## References
    Sutton & Barto 2018, section 7.1. Hessel et al. 2017, *Rainbow*.
    Seen in the wild: RWD-04 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "DIS351"
    name: ClassVar[str] = "several-steps-discounted-wrongly"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "sums"

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = [each for each in fit_targets(evidence) if each.n > 1 and each.power is not None]
        if not fits:
            raise NotEnough("no target of several steps was found")
        setting = told(evidence, "discount")
        for fit in fits:
            found = _reversed(fit) or misdiscounted(fit, setting)
            if found is None or fit.audits < 2 or fit.mistake not in ("", "near"):
                continue
            what, seen, expected = found
            yield self.finding(
                what,
                where=fit.where,
                seen=f"{seen}, in {fit.share:.0%} of {fit.rows} targets of {fit.n} steps",
                expected=expected,
                help="store the observation that the last step of the window led to"
                if fit.mistake
                else "discount the k-th reward by gamma ** k and the bootstrap by gamma ** n",
                confidence=0.95,
            )


def _reversed(fit: Fit) -> tuple[str, str, str] | None:
    """Rewards that count the more the later they are."""
    what, expected = "the rewards of the window are discounted the other way round", "1, γ, γ² … in the order of time"
    ended = fit.ending("terminated", "reversed")
    if ended is not None and ended.audits >= 2:
        seen = f"the first reward is discounted most in {ended.hit} of {ended.rows} windows up to an end"
        return what, seen, expected
    coefs = [each for each in fit.coefs if each is not None]
    if len(coefs) < max(fit.n, 2) or abs(coefs[-1] - 1.0) > 2e-3 or not 0.3 < coefs[-2] < 0.996:
        return None
    if any(abs(each - coefs[-2] ** (fit.n - 1 - k)) > 5e-3 for k, each in enumerate(coefs)):
        return None
    return what, f"rewards count {', '.join(f'{each:.3g}' for each in coefs)}", expected


def misdiscounted(fit: Fit, setting: float | None) -> tuple[str, str, str] | None:
    """What is wrong with the powers, what was seen, and what was expected."""
    assert fit.power is not None
    if fit.mistake == "near":
        return (
            f"rewards of {fit.n} steps are counted, and the value of the state after the first of them",
            f"{fit.n} rewards, and {fit.power:.4g} times the value one step on",
            f"the value of the state {fit.n} steps on",
        )
    inner = [each for each in fit.coefs[1:] if each is not None]
    first = fit.coefs[0]
    whole = first is not None and abs(first - 1.0) < 2e-3
    if (
        whole
        and inner
        and max(abs(each - 1.0) for each in inner) < 1e-3
        and (setting or fit.power ** (1 / fit.n)) < 0.996
    ):
        return "rewards of the window are not discounted", "every reward counts 1", "γ per step: 1, γ, γ², …"
    if whole and inner and max(abs(each) for each in inner) < 1e-3:
        return "only the first reward of the window is counted", "later rewards count 0", "1, γ, γ², …"
    gamma = setting
    if gamma is None and whole and fit.coefs[1] is not None:
        gamma = fit.coefs[1]
    if gamma is None or not 0.3 < gamma < 0.9995 or abs(fit.power - gamma**fit.n) < 2e-3:
        return None
    near = [m for m in range(0, 3 * fit.n + 1) if abs(fit.power - gamma**m) < 5e-4 and m != fit.n]
    if not near:
        return None
    return (
        f"the value {fit.n} steps on is discounted as if it were {near[0]} step{'' if near[0] == 1 else 's'} on",
        f"the bootstrap is multiplied by {fit.power:.4g}, which is {gamma:.4g} to the power of {near[0]}",
        f"{gamma:.4g} to the power of {fit.n}, {gamma**fit.n:.4g}",
    )
