"""What can be read off a Ladder: what was learned in words, and the patterns by which mistakes are told apart."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from rldebug.evidence.ladder import Array, Ladder, Rung

_FROM_BELOW = (
    "OPT010",
    "BUF010",
    "ADV010",
    "NET010",
    "VAL010",
    "DIS010",
    "VAL012",
    "DIS015",
    "VAL014",
    "VAL009",
    "PRE010",
    "BUF011",
    "BUF012",
    "VAL011",
    "VAL015",
    "DIS011",
    "DIS012",
    "TGT005",
    "DIS014",
    "POL013",
    "BUF014",
    "POL014",
    "ENT007",
    "POL015",
    "NET008",
    "POL016",
)
"""Faults that show on the first rungs, from the lowest up. What goes wrong above usually follows from one of them."""


def up_to(code: str) -> tuple[str, ...]:
    """The faults that show on the first rungs, as far up as this one: for `follows`."""
    return _FROM_BELOW[: _FROM_BELOW.index(code) + 1]


class Shown(TypedDict):
    """Two arguments of `Rule.finding`."""

    seen: str
    expected: str


def shown(rung: Rung) -> Shown:
    """What was learned and what is right, in the numbers of this rung."""
    place = f"rung {rung.number}, {rung.name}"
    attempt = rung.deciding
    if rung.asks == "return" or attempt is None:
        random, best = rung.returns or (0.0, 1.0)
        got = (
            "no episode ended"
            if attempt is None or attempt.returns is None
            else f"a mean return of {attempt.returns:.2f}"
        )
        return {
            "seen": f"{place}: {got}; {rung.reason}",
            "expected": f"a mean return near {best:.2f}; acting at random has {random:.2f}",
        }
    table, right = rung.mean("value" if rung.asks == "value" else "policy"), rung.right
    if table is None or right is None:
        return {"seen": f"{place}: {rung.reason}", "expected": rung.title.rstrip(".")}
    rows = worst(table, right)
    if rung.asks == "value" or table.shape[-1] == 1:
        what = "worth" if rung.asks == "value" else "the number played for"
        pairs = [(rung.looks[i], float(table[i].item()), float(right[i].item())) for i in rows]
        return {
            "seen": f"{place}: {what} " + ", ".join(f"{look} {number:.2f}" for look, number, _ in pairs),
            "expected": ", ".join(f"{look} {number:.2f}" for look, _, number in pairs),
        }
    chances = [float(table[i][right[i] > 0].sum()) for i in rows]
    named = ", ".join(f"{chance:.0%} for {rung.looks[i]}" for i, chance in zip(rows, chances, strict=True))
    return {"seen": f"{place}: chance of the right action {named}", "expected": "near 100%"}


def worst(table: Array, right: Array) -> list[int]:
    """Rows furthest from right, four at most, in the order of the looks."""
    off = np.abs(np.asarray(table) - right).reshape(len(right), -1).max(axis=1)
    return sorted(np.argsort(-off, kind="stable")[:4].tolist())


def still(rung: Rung) -> bool:
    """What was measured never changed, not by a millionth: nothing that it depends on was trained."""
    histories = [[error for _, error in each.history] for each in rung.attempts if len(each.history) >= 4]
    return bool(histories) and all(max(each) - min(each) <= 1e-6 * max(1.0, abs(each[0])) for each in histories)


def values_alone(ladder: Ladder) -> bool:
    """Acts by its action values: there is no policy of its own that could be wrong."""
    shows = {each for rung in ladder.rungs for attempt in rung.attempts for each in attempt.shows}
    return "q" in shows and "policy" not in shows


def through_critic(ladder: Ladder) -> bool:
    """Its policy, if it has one, learns from the critic's slope or values, not from sampled returns."""
    shows = {each for rung in ladder.rungs for attempt in rung.attempts for each in attempt.shows}
    return values_alone(ladder) or "bonus" in shows or ("lam" not in ladder.declared and "n_step" in ladder.declared)


def alike(rung: Rung) -> bool:
    """States that are worth different amounts are given nearly the same: the mean is learned, whatever is seen."""
    value, right = rung.mean("value"), rung.right
    if value is None or right is None or len(right) < 2:
        return False
    return bool(np.ptp(value) <= 0.25 * np.ptp(right) and abs(value.mean() - right.mean()) <= 0.25 * np.ptp(right))


def same_to_the_bit(rung: Rung, table: str) -> bool:
    """All looks have the same numbers, in every attempt: the network cannot tell them apart."""
    tables = [getattr(each, table) for each in rung.attempts if each.outcome == rung.outcome]
    kept = [each for each in tables if each is not None and len(each) > 1]
    return bool(kept) and all(float(np.ptp(each, axis=0).max()) <= 1e-5 * (1.0 + np.abs(each).max()) for each in kept)


def chances_of_right(rung: Rung) -> Array | None:
    """(looks,): how likely the right action is, over the attempts that decided; None for numbers and values."""
    policy, right = rung.mean("policy"), rung.right
    if policy is None or right is None or policy.shape[-1] < 2 or policy.shape != right.shape:
        return None
    return np.asarray((policy * (right > 0)).sum(axis=1))


def runs_away(rung: Rung) -> int:
    """1 where the values rise further and further above right, −1 where they fall below it, else 0."""
    value, right = rung.mean("value"), rung.right
    if value is None or right is None:
        return 0
    off = float((value - right)[np.abs(value - right).argmax()])
    decided = [each for each in rung.attempts if each.outcome == rung.outcome and len(each.history) >= 8]
    grows = [_grows([error for _, error in each.history]) for each in decided]
    return int(np.sign(off)) if grows and all(grows) and abs(off) > np.abs(right).max() else 0


def leaks(rung: Rung) -> bool:
    """On leaking-return: what the next episode pays is believed to be worth something in this one."""
    value = rung.mean("value")
    return value is not None and len(value) == 3 and bool(value[0] - value[1] > 0.3)


def _grows(errors: list[float]) -> bool:
    before, last = (float(np.median(part)) for part in np.array_split(np.array(errors), 4)[2:])
    return last > 1.05 * before
