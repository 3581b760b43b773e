"""The actions were not drawn from the distribution that is trained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.chances import choices
from rldebug.forensics.surrogates import distances, held, surrogates
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DrawnFromAnotherDistribution(Rule):
    """The actions do not look as if drawn from the distribution of the loss.

    ## What it checks
    In the first loss after acting the policy is still the one that acted. For actions drawn from it, the log-prob of
    a choice is minus the entropy on average, and the squared distance of a number from its mean is 1 in units of the
    deviation. Reported where both differ by far more than chance allows, the same way in each audit; or where all
    numbers lie on the same side of their means.

    ## Why it matters
    A policy gradient is only right for actions drawn from the policy. If they are wilder, or tamer, its mean is off,
    and a ratio that begins at 1 hides it.

    ## Likely causes
    1. Noise is added to the action, or to the deviation, that the log-prob does not know. Confirm: compare the drawn
       action with the distribution's parameters.
    2. A temperature, a mask or epsilon-greedy is applied in one of the two places. Confirm: as before.
    3. The log of the deviation is taken for the deviation. Confirm: print the deviation in both places.
    4. `rand`, from 0 to 1, where `randn` is meant. Confirm: print the smallest noise.

    ## What to try first
    Draw the action and compute its log-prob from the same distribution object.

    ## When it is fine
    Noise that is held for several steps is drawn from the right distribution without looking so: actions whose noise
    is correlated in time are not judged.

    ## References
    Sutton and Barto, *Reinforcement Learning*, 13.3.
    Seen in the wild: POL-07 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ACT323"
    name: ClassVar[str] = "drawn-from-another-distribution"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "drawn"
    follows: ClassVar[tuple[str, ...]] = ("ACT300", "ACT320", "ACT321", "BUF300", "BUF301", "NRM304")

    audits: int = 2  # in which the drawn actions can be compared with the policy
    rows: int = 150  # in all
    nats: float = 0.15  # of the mean log-prob, at least
    part: float = 0.4  # of the squared distance, at least
    sigmas: float = 8.0  # standard errors from what draws of the policy give

    def check(self, evidence: Script) -> Iterator[Finding]:
        chosen, numbers = self._choices(evidence), self._numbers(evidence)
        if chosen is None and numbers is None:
            raise NotEnough(
                f"less than {self.audits} audits in which the drawn actions can be compared with the policy"
            )
        for found in (chosen, numbers):
            if found is not None and found[1]:
                where, _, seen, expected = found
                yield self.finding(
                    "the actions were not drawn from the distribution that is trained",
                    where=where,
                    seen=seen,
                    expected=expected,
                    help="draw the action and compute its log-prob from the same distribution",
                    confidence=0.9,
                )
                return

    def _choices(self, evidence: Script) -> tuple[Where, bool, str, str] | None:
        found = [each for each in choices(evidence) if len(each.logp) >= 8]
        # Without an environment these are texts: cutting off unlikely words when drawing them is usual.
        if not evidence.streams or len({each.surrogate.audit.number for each in found}) < self.audits:
            return None
        away = np.concatenate([each.logp + each.entropy for each in found])
        if len(away) < self.rows:
            return None
        means = np.array([float((each.logp + each.entropy).mean()) for each in found])
        mean = float(away.mean())
        # A policy that is nearly certain has a long tail: its spread in a sample says little.
        sigmas = abs(mean) * np.sqrt(len(away)) / max(float(away.std()), 0.7)
        bad = abs(mean) > self.nats and sigmas > self.sigmas and bool((np.sign(means) == np.sign(mean)).all())
        bad = bad and bool((np.abs(means) > 0.5 * self.nats).all())
        return (
            found[0].surrogate.term.where,
            bad,
            f"log-probs of the chosen actions are {abs(mean):.2g} nats "
            f"{'above' if mean > 0 else 'below'} minus the entropy, in {len(away)} rows ({sigmas:.0f} standard errors)",
            "minus the entropy, on average",
        )

    def _numbers(self, evidence: Script) -> tuple[Where, bool, str, str] | None:
        squares: list[float] = []
        count, where = 0, None
        found = [(each, distance) for each in surrogates(evidence) if (distance := distances(each)) is not None]
        sides = {_side(distance) for _, distance in found}
        total = sum(distance.size for _, distance in found)
        if len(found) >= self.audits and total >= self.rows and sides in ({1}, {-1}):
            seen = f"all of {total} numbers lie on one side of their mean"
            return found[0][0].term.where, True, seen, "half of them on either side"
        for each, distance in found:
            if held(each, distance):
                return None
            squares.append(float((distance**2).mean()))
            count += distance.size
            where = where or each.term.where
        if len(squares) < self.audits or count < self.rows or where is None:
            return None
        mean = float(np.mean(squares))
        sigmas = abs(mean - 1) * np.sqrt(count / 2)
        low, high = 1 - self.part, 1 / (1 - self.part)
        bad = sigmas > self.sigmas and (all(each < low for each in squares) or all(each > high for each in squares))
        return (
            where,
            bad,
            f"the squared distance of actions from their mean is {mean:.2g} variances in "
            f"{count} numbers ({sigmas:.0f} standard errors)",
            "1 on average",
        )


def _side(distance: NDArray[np.float64]) -> int:
    """Of the mean on which all of them lie: 1 above, -1 below; 0 where on both, or where they are all but the same."""
    if not distance.std() > 0.1 * np.abs(distance).mean():
        return 0
    return 1 if distance.min() > -1e-3 else -1 if distance.max() < 1e-3 else 0
