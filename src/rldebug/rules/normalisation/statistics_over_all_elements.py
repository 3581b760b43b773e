"""Observations are normalised with one mean and deviation for all elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, calls_of
from rldebug.forensics.one_shift import acted_shift, one_shift
from rldebug.forensics.worlds import training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class StatisticsOverAllElements(Rule):
    """Observations are normalised by one number for all elements.

    ## What it checks
    The inputs of the network in an audit beside the observations of the same audit. Every element is scaled by the same
    factor, the factor changes as training goes on, so it is a statistic; and the scales of the elements, far apart
    before, are as far apart after. Or the factor stays, as of a data set whose statistics are taken once: then all
    elements are shifted and divided by the same two numbers, to rounding, and these are the mean and the deviation of
    all elements together.

    ## Why it matters
    Small elements stay invisible beside large ones, which is what normalising is to prevent.

    ## Likely causes
    1. `batch.mean()` without an axis. Confirm: print the shape of the mean.
    2. The mean is taken over the elements of one observation, not over observations. Confirm: the same.

    ## What to try first
    `mean(axis=0)`, over the axis of observations.

    ## When it is fine
    A constant factor for all elements is a choice; only one that is updated, or that is a statistic of all elements
    together, is reported.

    ## References
    Seen in the wild: NRM-03 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "NRM300"
    name: ClassVar[str] = "statistics-over-all-elements"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "statistics"

    audits: int = 3  # that can be judged
    apart: float = 10.0  # largest over smallest spread of the elements
    equal: float = 0.05  # by which the factors of the elements may differ
    change: float = 0.01  # by which the factor must change over the audits

    losses: int = 6  # or actions, in which the same shift and factor are told, where they stay
    rows: int = 256  # different ones, of which mean and deviation are known
    near: float = 0.05  # of a deviation, by which both may differ from those
    shifted: float = 0.2  # deviations by which the mean differs from 0: a factor alone may be any constant

    def check(self, evidence: Script) -> Iterator[Finding]:
        once = list(self._once(evidence))
        if once:
            yield from once
            return
        factors: list[float] = []
        scales: NDArray[np.float64] | None = None
        where: Event | None = None
        judged = 0
        grouped: dict[int, list[Call]] = {}
        for call in calls_of(evidence):
            if call.input is not None and not call.event["grad"] and call.event["match"] in ("alias", "none"):
                grouped.setdefault(call.audit.number, []).append(call)
        for audit in evidence.audits:
            calls = grouped.get(audit.number, [])
            found = _factors(audit, calls)
            if found is None:
                continue
            judged += 1
            factor, spread = found
            if factor.max() > (1 + self.equal) * factor.min() or spread.max() < self.apart * spread.min():
                return
            factors.append(float(np.median(factor)))
            scales, where = spread, where or calls[0].event
        if judged < self.audits:
            raise NotEnough(f"{judged} audits with changed observations to compare")
        if where is None or scales is None or max(factors) < (1 + self.change) * min(factors):
            return
        yield self.finding(
            "observations are normalised by one number for all elements",
            where=where.where,
            seen=f"every element is scaled by the same factor ({factors[0]:.3g} at first, {factors[-1]:.3g} at "
            "last), though "
            f"their spreads are {scales.min():.3g} to {scales.max():.3g}",
            expected="a mean and deviation of its own for each element",
            help="take mean and deviation over axis 0, the axis of observations",
            confidence=0.95,
        )

    def _once(self, script: Script) -> Iterator[Finding]:
        """Statistics that were taken once, and are the same for all elements."""
        spreads = [np.array((each.get("obs") or {}).get("std") or [], dtype=float) for each in training_streams(script)]
        if not spreads or len(spreads[0]) < 2 or not np.isfinite(spreads[0]).all():
            return
        spread = spreads[0][spreads[0] > 0]
        if len(spread) < 2 or spread.max() < self.apart * spread.min():
            return
        inside = one_shift(script)
        for found in (*([] if inside is None else [inside]), *acted_shift(script)):
            off = max(abs(found.shift - found.mean), abs(found.scale - found.deviation))
            if found.times < self.losses or found.rows < self.rows or off > self.near * found.deviation:
                continue
            if abs(found.mean) < self.shifted * found.deviation:
                continue
            yield self.finding(
                "observations are normalised by one mean and one deviation for all elements",
                where=found.first.where,
                seen=f"every element less {found.shift:.3g}, over {found.scale:.3g}, in {found.times} {found.where}; "
                f"of all elements together the mean is {found.mean:.3g} and the deviation {found.deviation:.3g}, and "
                f"their own deviations are {spread.min():.3g} to {spread.max():.3g}",
                expected="a mean and deviation of its own for each element",
                help="take mean and deviation over axis 0, the axis of observations",
                confidence=0.93,
            )
            return


def _factors(audit: Audit, calls: list[Call]) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Spread of each input element over that of the observations, and the latter; None where there are too few."""
    nodes = audit.nodes
    width = nodes.obs.shape[1]
    mine = [each for each in calls if each.input is not None and each.input.shape[1] == width]
    if width < 3 or not mine:
        return None
    given = np.concatenate([np.asarray(each.input) for each in mine])
    places = np.concatenate([each.places for each in mine])
    obs = np.asarray(nodes.obs, dtype=np.float64)
    whole = np.isfinite(obs).all(axis=1)
    paired = (places >= 0) & np.asarray(whole)[places] & np.isfinite(given).all(axis=1)
    if paired.sum() >= 10:
        return _one_scale(obs[places[paired]], given[paired])
    # Where rows cannot be traced, both are the same set of observations: their spreads can be compared.
    x = obs[(nodes.phase >= audit.phase) & whole]
    if len(x) < 64 or len(given) < 64 or not np.isfinite(given).all():
        return None
    spread, inside = (np.subtract(*np.percentile(each, [90, 10], axis=0)) for each in (x, given))
    moves = spread > 1e-6 * (1 + np.abs(x).max(axis=0))
    return (inside[moves] / spread[moves], spread[moves]) if moves.sum() >= 3 else None


def _one_scale(
    obs: NDArray[np.float64], given: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The same, from rows with their observations.

    One mean for all elements cancels in the difference of two of them, so statistics that move from row to row do no
    harm: each row has a factor for each element.
    """
    spread = obs.std(axis=0)
    first = int(spread.argmax())
    rest = [each for each in range(obs.shape[1]) if each != first and spread[each] > 1e-9 * spread[first]]
    if len(rest) < 2:
        return None
    apart = obs[:, rest] - obs[:, [first]]
    far = (np.abs(apart) > 1e-3 * spread[first]).all(axis=1)
    if far.sum() < 8:
        return None
    factors = (given[:, rest] - given[:, [first]])[far] / apart[far]
    middle = np.median(factors, axis=1)
    equal = np.ptp(factors, axis=1) <= 0.01 * np.abs(middle)
    told = float(np.median(np.abs(middle)))
    # Elements that are scaled each by its own number disagree in every row; a row that was clipped disagrees as well.
    return np.array([told, told if equal.mean() > 0.8 else 2 * told]), spread[[first, *rest]]
