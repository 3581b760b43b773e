"""Formulas of targets where no environment is seen: a data set, or a world that is a plain function.

The same transition, drawn at two times, is paid the same: its targets differ by what the bootstrap changed in between,
times γ, or not at all where the episode ended. That needs neither rewards nor ends, only the calls of the updates.
Where there are few states, one that steps lead to all the time and that nobody ever starts from is an end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.batches import calls_of
from rldebug.forensics.goals import asked
from rldebug.forensics.robust_fit import Array
from rldebug.forensics.target_ends import Ending
from rldebug.forensics.target_formula import QFormula, mistake_of
from rldebug.forensics.target_free import asked_batch
from rldebug.forensics.target_next import said_before
from rldebug.forensics.target_rows import Flags

_PAIRS = 96
_GOOD = 0.97
_LOW, _HIGH = 0.3, 1.02  # of γ
_TERMS = 80
_SEEN = 8  # times that an end is led to, at least
_MOST = 0.4  # of steps may lead to ends; more, and what steps lead to is shown in another way
_VISITS = 5.0  # of each state, where there are few
_WAYS = 1.5  # on from each
_TEMPERATURES = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.25, 0.3, 0.5, 2.0, 5.0)  # of soft maxima


@dataclass(frozen=True, eq=False)
class Draw:
    """One batch: a key for each transition and for where it leads, its targets, and what they may hold."""

    audit: int
    keys: list[bytes]
    own: list[bytes]
    led: list[bytes]
    target: Array
    f: dict[str, Array]


def repeated(script: Script, terms: Sequence[tuple[Audit, Event]]) -> QFormula | None:
    mine = {id(term) for _, term in terms}
    draws = [each for each in _draws(script, mine) if each.f]
    if len({each.audit for each in draws}) < 3:
        return None
    names = Counter(name for each in draws for name in each.f)
    first: dict[bytes, tuple[int, int]] = {}
    pairs: list[tuple[int, int, int, int]] = []  # batch and row, and those of the first time
    for number, each in enumerate(draws):
        for row, key in enumerate(each.keys):
            if key in first and first[key][0] != number:
                pairs.append((number, row, *first[key]))
            first.setdefault(key, (number, row))
    if len(pairs) < _PAIRS:
        return None
    change = np.array([draws[b].target[r] - draws[b0].target[r0] for b, r, b0, r0 in pairs])
    tol = max(3e-6 * max(float(np.abs(each.target).max()) for each in draws), 1e-6)
    best: tuple[str, float, Flags, Flags, Flags] | None = None
    for name in (name for name, count in names.items() if count == len(draws)):
        moved = np.array([draws[b].f[name][r] - draws[b0].f[name][r0] for b, r, b0, r0 in pairs])
        found = _fit(change, moved, tol)
        if found is not None and (best is None or found[1].sum() > best[2].sum()):
            best = (name, *found)
    if best is None:
        return None
    name, gamma, added, masked, told = best
    audit = np.array([draws[b].audit for b, _, _, _ in pairs])
    over = _over(script, draws, pairs)
    if added.sum() < 0.4 * told.sum():  # then at ends alone, or it is a coincidence
        inverted = added.sum() >= _SEEN and (added & over).sum() >= 0.9 * added.sum() and not (masked & over).any()
        return QFormula("reward", gamma, 1.0, "", 1.0, int(told.sum()), len(np.unique(audit[masked])),
                        mistake="inverted", traced=False) if inverted else None  # fmt: skip
    ends = _ends(over & (added | masked), added, masked, audit)
    share = float((added | masked)[told].mean())
    audits = len(np.unique(audit[added]))
    return QFormula(name, gamma, 1.0, "", share, int(told.sum()), audits, mistake=mistake_of(name), endings=ends,
                    traced=False)  # fmt: skip


def _draws(script: Script, mine: set[int]) -> list[Draw]:
    several = [each for each in asked(script) if id(each.term) in mine]
    found = []
    for each in several[:: max(1, len(several) // _TERMS)]:
        own = each.predicting.input
        after = next((one.input for one in each.others if one.input is not None and own is not None
                      and one.input.shape == own.shape and not np.array_equal(one.input, own)), None)  # fmt: skip
        batch = asked_batch(each.audit, each.term)
        if own is None or after is None or batch is None or len(batch[0]) != len(own):
            continue
        start, end = _bytes(own), _bytes(after)
        taken = np.ravel(each.term.arrays["index"]).astype(np.int64)
        keys = [one + int(index).to_bytes(4, "little") + two for one, index, two in zip(start, taken, end, strict=True)]
        f = {**batch[1], **_soft(each.audit, each.term, len(own))}
        found.append(Draw(each.audit.number, keys, start, end, batch[0], f))
    return found


def _bytes(rows: Array) -> list[bytes]:
    return [each.tobytes() for each in rows.astype(np.float32) + np.float32(0)]


def _soft(audit: Audit, term: Event, count: int) -> dict[str, Array]:
    found = {}
    for said in said_before(audit, term):
        if len(said.rows) == count and 1 < said.output.shape[1] <= 64 and np.isfinite(said.output).all():
            top = said.output.max(axis=1)
            for each in _TEMPERATURES:
                rest = np.exp((said.output - top[:, None]) / each).sum(axis=1)
                found[f"soft {said.module} at {each:g}"] = top + each * np.log(rest)
    return found


def _fit(change: Array, moved: Array, tol: float) -> tuple[float, Flags, Flags, Flags] | None:
    """γ; pairs in which the bootstrap is, pairs in which it is not, and those that can tell."""
    told = np.abs(moved) > 200 * tol
    if told.sum() < _PAIRS:
        return None
    ratios = change[told] / moved[told]
    likely = ratios[(ratios > _LOW) & (ratios < _HIGH)]
    if len(likely) < _SEEN:
        return None
    tried = np.unique(np.round(likely, 4))
    hits = [int((np.abs(likely - each) < 2e-4).sum()) for each in tried]
    near = np.abs(likely - tried[int(np.argmax(hits))]) < 5e-4
    gamma = float(np.median(likely[near]))
    added = told & (np.abs(change - gamma * moved) <= 10 * tol + 1e-4 * np.abs(moved))
    masked = told & (np.abs(change) <= 10 * tol) & ~added
    explained = float((added | masked)[told].mean())
    return (gamma, added, masked, told) if explained >= _GOOD else None


def _over(script: Script, draws: Sequence[Draw], pairs: Sequence[tuple[int, int, int, int]]) -> Flags:
    """Pairs that lead to an end, as far as ends can be told."""
    started = Counter(key for each in draws for key in each.own)
    led = Counter(key for each in draws for key in each.led)
    steps = {key for each in draws for key in each.keys}
    if sum(started.values()) < _VISITS * len(started) or len(steps) < _WAYS * len(started):
        return np.zeros(len(pairs), dtype=bool)  # drawn often, but each place was met once: who can say why one is last
    few = [each.input for each in calls_of(script) if each.input is not None and len(each.rows) <= 4]
    acted = {key for each in few for key in _bytes(each)}
    last = {key for key, count in led.items() if count >= _SEEN and key not in started and key not in acted}
    over = np.array([draws[b].led[r] in last for b, r, _, _ in pairs], dtype=bool)
    return over if over.mean() < _MOST else np.zeros(len(pairs), dtype=bool)


def _ends(told: Flags, added: Flags, masked: Flags, audit: Array) -> tuple[Ending, ...]:
    for way, hit in (("follows", told & added), ("zero", told & masked)):
        if told.sum() >= _SEEN and hit.sum() >= 0.9 * told.sum():
            return (Ending("terminated", way, way == "zero", int(told.sum()), int(hit.sum()),
                           len(np.unique(audit[hit])), float(told.mean())),)  # fmt: skip
    return ()
