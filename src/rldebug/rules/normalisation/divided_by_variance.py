"""Observations are divided by their variance where it should be the standard deviation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.inputs import inputs_of
from rldebug.forensics.running_scales import kept, replayed
from rldebug.forensics.worlds import training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DividedByVariance(Rule):
    """Observations are divided by their variance, not by their deviation.

    ## What it checks
    How widely the observations of an audit are spread, element by element, and how widely what the network was given
    for them. Each element is made smaller, or larger, by its own variance, and by nothing near its deviation; and by
    how much changes from one audit to another, so that it is a statistic and no constant.

    One audit is enough where it is the first: mean and variance of all observations up to each step are worked out
    anew, and what the network is given is the observation less that mean, divided by that variance. Exact. Where a
    layer of the program's own around the environment keeps the statistics, what it shows is held beside them.

    ## Why it matters
    Elements that count in hundreds become almost nothing, those below one become large: the opposite of what
    normalising is for.

    ## Likely causes
    1. The square root is left out: `(x - mean) / (var + eps)`. Confirm: print the deviation of what the network is
       given, which should be about 1.
    2. A class that keeps variances is read as if it kept deviations. Confirm: look at what `std` is made of.

    ## What to try first
    `(x - mean) / np.sqrt(var + 1e-8)`.

    ## When it is fine
    Where the deviation is about 1 both are the same, and nothing is said.

    ## References
    Gymnasium, *NormalizeObservation*: `(obs - mean) / sqrt(var + epsilon)`.
    """

    code: ClassVar[str] = "NRM270"
    name: ClassVar[str] = "divided-by-variance"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "statistics"

    audits: int = 3  # after the first, in which nobody knows a variance yet
    elements: int = 2  # that can be told
    about: float = 1.8  # factor by which the variance of one audit may differ from that of all so far
    apart: float = 4.0  # of a deviation from 1: otherwise both are about the same
    change: float = 0.003  # by which the factor changes over the audits
    share: float = 0.75  # of audits and elements that agree
    related: float = 0.98  # correlation of an element with what is made of it
    settled: float = 1.35  # factor by which a variance may be off in the second half of the audits
    near: float = 2.0  # of a deviation from 1 that is enough then, and between the smallest deviation and the largest
    power: float = 0.3  # by which the power of the deviation may differ from 2
    exact: float = 0.9  # of the rows of the first audit, in each element that can be told
    wide: float = 4.0  # between the smallest and the largest deviation that a layer keeps

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = self._replayed(evidence) or self._kept(evidence)
        if found is not None:
            yield found
            return
        tried: dict[str, list[tuple[NDArray[np.float64], NDArray[np.float64], Event]]] = {}
        for each in inputs_of(evidence):
            if each.use != "acting" or each.event["match"] not in ("alias", "none") or not each.audit.update:
                continue
            told = (each.related > self.related) & (each.obs_spread > 0)
            if told.sum() >= self.elements:
                factor = np.where(told, each.input_spread / np.where(told, each.obs_spread, 1.0), np.nan)
                tried.setdefault(each.module, []).append((factor, np.where(told, each.obs_spread, np.nan), each.event))
        most = max(map(len, tried.values()), default=0)
        if most < self.audits:
            raise NotEnough(f"{most} audits with observations that were changed on the way, needs {self.audits}")
        for looks in tried.values():
            if len(looks) < self.audits:
                continue
            factors, spreads = np.stack([each for each, _, _ in looks]), np.stack([each for _, each, _ in looks])
            whole = _over_the_run(evidence, factors.shape[1])
            if whole is not None:  # of few rows that follow one another, an audit sees a part of the spread only
                spreads = np.where(np.isfinite(spreads), whole, np.nan)
            left, given = np.abs(np.log(factors * spreads**2)), np.abs(np.log(factors * spreads))
            known = np.isfinite(left)
            right = (left <= np.log(self.about)) & (given >= np.log(self.apart))
            moved = np.nanmax(factors, axis=0) / np.nanmin(factors, axis=0) > 1 + self.change
            if not moved[known.any(axis=0)].any():
                continue
            if right[known].mean() < self.share and (whole is None or not self._settled(factors, whole)):
                continue
            inside, outside = float(np.nanmedian(factors * spreads)), float(np.nanmedian(spreads))
            yield self._found(
                looks[0][2].where,
                f"elements with a deviation of about {outside:.3g} reach the network with one of {inside:.2g}, in "
                f"{len(looks)} audits; each is scaled by one over its variance",
            )
            return

    def _found(self, where: Where | None, seen: str) -> Finding:
        return self.finding(
            "observations are divided by their variance",
            where=where,
            seen=seen,
            expected="a deviation of about 1",
            help="divide by np.sqrt(var + 1e-8)",
            confidence=0.94,
        )

    def _replayed(self, script: Script) -> Finding | None:
        for each in replayed(script):
            told = (each.deviation > 0) & (np.abs(np.log(np.maximum(each.deviation, 1e-30))) >= np.log(self.near))
            right = (each.by_variance >= self.exact) & (each.by_deviation < self.exact)
            if told.sum() < self.elements or not right[told].all():
                continue
            worst = int(np.where(told, np.abs(np.log(np.maximum(each.given, 1e-30))), 0.0).argmax())
            return self._found(
                each.event.where,
                f"in {each.rows} steps the network is given the observation less its mean, divided by its variance, "
                f"of all observations until then; element {worst} with a deviation of {each.deviation[worst]:.3g} "
                f"comes in with one of {each.given[worst]:.2g}",
            )
        return None

    def _kept(self, script: Script) -> Finding | None:
        for each in kept(script):
            size, shown = np.log(each.deviation), np.log(np.maximum(each.shown, 1e-30))
            told = np.abs(size) >= np.log(self.near)
            if told.sum() < self.elements + 1 or np.ptp(size[told]) < np.log(self.wide):
                continue
            right = (np.abs(shown + size) <= np.log(self.settled))[told]  # one over it, where it should be 1
            if right.mean() > self.exact and abs(float(np.polyfit(size[told], shown[told], 1)[0]) + 1.0) <= self.power:
                worst = int(np.abs(shown).argmax())
                return self._found(
                    None,
                    f"{each.what} shows element {worst} with a deviation of {each.shown[worst]:.2g}, and by what it "
                    f"keeps that of the observations is {each.deviation[worst]:.3g}; so in all of {int(told.sum())}",
                )
        return None

    def _settled(self, factors: NDArray[np.float64], deviation: NDArray[np.float64]) -> bool:
        late = factors[len(factors) // 2 :]
        told = (np.isfinite(late).sum(axis=0) >= self.audits) & (np.abs(np.log(deviation)) >= np.log(self.near))
        if told.sum() < self.elements or deviation[told].max() < self.near * deviation[told].min():
            return False
        factor, size = np.log(np.nanmedian(late[:, told], axis=0)), np.log(deviation[told])
        right = (np.abs(factor + 2 * size) <= np.log(self.settled)) & (np.abs(factor + size) > np.log(self.settled))
        return bool(right.mean() > 0.9) and abs(float(np.polyfit(size, factor, 1)[0]) + 2.0) <= self.power


def _over_the_run(script: Script, width: int) -> NDArray[np.float64] | None:
    """Deviation of each element over all observations, by what the environments counted."""
    found = [(each.get("obs") or {}).get("std") for each in training_streams(script)]
    known = [np.array(each, dtype=np.float64) for each in found if each is not None and len(each) == width]
    return np.asarray(np.mean(known, axis=0)) if known and np.min(known) > 0 else None
