"""Two critics are trained, and each target is made of one alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.passes import actor_passes
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class SecondCriticIgnored(Rule):
    """Two critics are trained, and each target is made of one alone.

    ## What it checks
    Two critics learn from the same rows, beside an actor that learns through them. The formula of their targets, which
    fits down to rounding, holds what a single critic said of the next state: neither the smaller nor the mean of both.

    ## Why it matters
    A critic that believes itself overrates actions, and the policy finds them. The second critic is there to prevent
    that, and does nothing.

    ## Likely causes
    1. The minimum of the two was left out, or is taken of one critic twice. Confirm: read the lines of the target.
    2. Each critic has a target of its own. Confirm: the same.

    ## What to try first
    `torch.min(q1_target(...), q2_target(...))` in the target of both.

    ## When it is fine
    Ensembles whose members are to stay independent. A network that values the state alone, as in the first SAC, may
    have the smaller of both in it: it is not judged.

    ## References
    Fujimoto et al. 2018, *Addressing Function Approximation Error in Actor-Critic Methods*.
    """

    code: ClassVar[str] = "VAL390"
    name: ClassVar[str] = "second-critic-ignored"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "next"
    follows: ClassVar[tuple[str, ...]] = ("VAL391", "VAL301")

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = [each for each in fit_targets(evidence) if each.what == "q" and each.audits >= 2]
        if not fits or not actor_passes(evidence):
            raise NotEnough("the formula of no critic's target was found, beside an actor")
        if _critics(evidence) != 2 or any(_of_the_state_alone(evidence, each.name) for each in fits):
            return
        if all(
            each.name.startswith("value of ") and not each.mistake and 0.3 < (each.gamma or 0.0) < 1.02 for each in fits
        ):
            fit = fits[0]
            names = sorted({each.name.removeprefix("value of ") for each in fits})
            yield self.finding(
                "each target is made of one critic alone, though two are trained",
                where=fit.where,
                seen=f"reward plus {fit.gamma:.3g} times the value of {' or of '.join(names)}, in {fit.share:.0%} of "
                f"{fit.rows} steps",
                expected="the smaller of the two critics",
                help="take the minimum of both target critics",
                confidence=0.88,
            )


def _critics(script: Script) -> int:
    """Regressions on the same rows, with different predictions, in one update."""
    most = 0
    for audit in script.audits:
        for update in {each.update for each in audit.terms("regression")}:
            terms = [each for each in audit.terms("regression") if each.update == update and "index" not in each.arrays]
            made = {
                np.round(np.ravel(each.arrays["prediction"]).astype(np.float64), 6).tobytes()
                for each in terms
                if "prediction" in each.arrays and "rows" in each.arrays
            }
            rows = {each.arrays["rows"].tobytes() for each in terms if "rows" in each.arrays}
            if len(rows) == 1:
                most = max(most, len(made))
    return most


def _of_the_state_alone(script: Script, name: str) -> bool:
    """Whether the network of the target is given what the actor is given, and no action."""
    module = name.removeprefix("value of ").split("[")[0].split(".output")[0]
    for audit in script.audits:
        seen = {each.arrays["input"].shape[1] for each in audit.acting if each.arrays.get("input") is not None}
        for call in audit.calls:
            given = call.arrays.get("input")
            if call["module"] == module and given is not None and "input1" not in call.arrays:
                return given.shape[1] in seen
    return False
