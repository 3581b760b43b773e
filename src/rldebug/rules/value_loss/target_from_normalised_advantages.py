"""The critic's targets are built from normalised advantages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.targets import fit_targets, fit_weights
from rldebug.forensics.token_rewards import tables
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetFromNormalisedAdvantages(Rule):
    """The critic's targets are built from normalised advantages.

    ## What it checks
    Target − V(s) follows the recursion of the advantage, with rewards and values divided by a number that is not 1
    and changes from batch to batch; or it has mean 0 and standard deviation 1 in every rollout.

    ## Why it matters
    The targets have another scale than the values they are added to: the critic chases a quantity that depends on its
    own error.

    ## Likely causes
    1. Advantages are normalised in place, and the returns are formed afterwards. Confirm: print mean and standard
       deviation of returns − values.

    ## What to try first
    Form the returns first, and normalise a copy for the policy loss.

    ## When it is fine
    Never.

    ## References
    Seen in the wild: ADV-07 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "VAL361"
    name: ClassVar[str] = "target-from-normalised-advantages"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "weight"
    follows: ClassVar[tuple[str, ...]] = ("ADV354",)

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits, weights = fit_targets(evidence), fit_weights(evidence)
        written = _of_tokens(evidence)
        if not fits and not weights and written is None:
            raise NotEnough("the formula of no target was found")
        seen = [(each.where, each.rows) for each in fits if each.mistake == "normalised" and each.audits >= 2]
        seen += [(each.where, each.rows) for each in weights if each.unit]
        seen += written or []
        for where, rows in seen[:1]:
            yield self.finding(
                "the critic's targets are built from normalised advantages",
                where=where,
                seen=f"target − value is normalised, batch by batch, in {rows} rows",
                expected="advantages as they are, before they are normalised",
                help="form returns = advantages + values before normalising",
                confidence=0.95,
            )


def _of_tokens(evidence: Script) -> list[tuple[Where, int]] | None:
    """Of answers: where target − value is what the policy is weighted with, and that has a mean of 0 and a spread of 1.
    None where no round has both."""
    judged, wrong = 0, []
    for table in tables(evidence):
        found = table.learned
        if found is None:
            continue
        inside = (found.mask != 0) & np.isfinite(found.weight)
        both = inside & np.isfinite(found.value) & np.isfinite(found.target)
        if both.sum() < 64 or not inside[table.length >= 0].any():
            continue
        judged += 1
        over, weight = (found.target - found.value)[both], found.weight[both]
        spread = float(found.weight[inside].std())
        unit = abs(spread - 1) < 5e-3 and abs(float(found.weight[inside].mean())) < 5e-3
        if unit and np.abs(over - weight).max() < 1e-3:
            wrong.append((table.round.passes[0].call.where, int(both.sum())))
    if not judged:
        return None
    return wrong if len(wrong) >= max(2, 0.9 * judged) else []
