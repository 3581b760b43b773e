"""The formula that the targets of Q-learning follow, as plain data, whichever way it was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rldebug.finding import Where
from rldebug.forensics.robust_fit import Array
from rldebug.forensics.target_ends import Ending
from rldebug.forensics.target_free import Free
from rldebug.forensics.target_odd import ODD
from rldebug.forensics.target_q_ends import at_ends, last_lost_at_ends, lost_at_ends, reversed_at_ends
from rldebug.forensics.target_rows import Site
from rldebug.forensics.target_steps import Several, Window


@dataclass(frozen=True, eq=False)
class QFormula:
    name: str  # max, double, min, reward, …; own-… where the state itself was asked about
    gamma: float
    reward: float
    changed: str
    share: float
    rows: int
    audits: int
    entropy: float | None = None  # coefficient of the log-prob of the next action
    mistake: str = ""
    endings: tuple[Ending, ...] = ()
    stored: str = ""  # what became of the reward: bytes, whole
    n: int = 1  # steps
    power: float | None = None  # what the bootstrap is multiplied with, where there are several
    coefs: tuple[float | None, ...] = ()  # and the rewards
    crossed: tuple[int, int] = (0, 0)  # windows of several steps that run over an end, of those that could
    traced: bool = True  # rows are known steps of the environment
    site: Site = ()
    where: Where = field(default_factory=Where)


def mistake_of(name: str) -> str:
    """By the name of what was bootstrapped from."""
    return next((mistake for start, mistake in ODD.items() if name.startswith(start)), "")


def of_several(found: Several, setting: float | None) -> QFormula:
    gamma = found.gamma or setting or max(found.power, 1e-6) ** (1.0 / found.n)
    windows = found.windows
    target = np.concatenate([each.target for each in windows])
    rewards = np.concatenate([each.steps.rewards for each in windows])
    length = np.concatenate([each.steps.length for each in windows])
    known = np.concatenate([each.steps.known for each in windows])
    terminated = np.concatenate([each.steps.terminated for each in windows])
    truncated = np.concatenate([each.steps.truncated for each in windows])
    audit = np.concatenate([np.full(len(each.target), each.audit) for each in windows])
    f = np.concatenate([each.f.get(found.name, np.full(len(each.target), np.nan)) for each in windows])
    coefs = [gamma**k if each is None else each for k, each in enumerate(found.coefs)]
    total = np.nan_to_num(rewards) @ np.array(coefs)
    total = np.where(known, total, np.nan)
    ratio = found.power / gamma**found.n
    boot = gamma**length * ratio * f
    ends = at_ends(target, total, boot, known, terminated, truncated, audit, found.tol) if found.units else ()
    if found.units and not any(each.kind == "terminated" for each in ends):
        inner = np.concatenate([each.rows(found.n) for each in windows])
        last = known & terminated & (length == 1)
        ends += lost_at_ends(target, np.nan_to_num(rewards)[:, 0], inner, last, audit, found.tol)
        if not any(each.kind == "terminated" for each in ends):
            final = np.maximum(length - 1, 0)
            part = np.array(coefs)[final] * np.nan_to_num(rewards)[np.arange(len(final)), final]
            ends += last_lost_at_ends(target, total, part, known & terminated, audit, found.tol)
            if not any(each.kind == "terminated" for each in ends):
                back = gamma ** np.maximum(length[:, None] - 1 - np.arange(found.n), 0)
                paid = np.where(np.arange(found.n) < length[:, None], np.nan_to_num(rewards), 0.0)
                around = (paid * back).sum(axis=1)
                ends += reversed_at_ends(target, total, around, known & terminated, audit, found.tol)
    held = np.concatenate([each.steps.repeated[each.rows(found.n)] for each in windows])
    if held.mean() > 0.9:  # one action for several steps of the environment: to the learner they are one
        share, rows, audits = found.share, found.rows, len(np.unique(audit[found.agree]))
        return QFormula(found.name, found.power, 1.0, "", share, rows, audits, mistake=mistake_of(found.name))
    crossed = _crossed(windows, np.array(coefs), 20.0 * found.tol) if found.units else (0, 0)
    audits = len(np.unique(audit[found.agree]))
    return QFormula(
        name=found.name, gamma=float(gamma), reward=1.0, changed="", share=found.share, rows=found.rows, audits=audits,
        mistake=mistake_of(found.name), endings=ends, n=found.n, power=found.power, coefs=found.coefs, crossed=crossed,
    )  # fmt: skip


def _crossed(windows: Sequence[Window], coefs: Array, tol: float) -> tuple[int, int]:
    """Of the kind of end that is run over more often: time limits, or true ends.

    Where the target stops at the end all the same, by a mask, what lies beyond does not matter.
    """
    found = []
    for cut in (True, False):
        kept = [each.ended & (each.cut == cut) & np.isfinite(each.target) for each in windows]
        hit = 0
        for each, keep in zip(windows, kept, strict=True):
            hit += int((each.crossed & keep & (np.abs(each.target - each.inside @ coefs) > tol)).sum())
        found.append((hit, sum(int(each.sum()) for each in kept)))
    return max(found, key=lambda each: each[0] / max(each[1], 1))


def of_free(found: Free) -> QFormula:
    """Ends are known by rewards that are paid at ends alone; or by there being none among very many rows."""
    ends: list[Ending] = []
    last = [each for each, share in found.ends.items() if share == 1.0 and len(found.ends) > 1]
    told = np.isin(np.round(found.reward, 6), np.round(last, 6)) & (found.added | found.masked)
    share = float(told.mean())
    never = found.masked & ~told  # ends that were paid what no end is paid
    shifted = told.sum() >= 8 and never.sum() >= 5 and (told & found.masked).sum() <= 0.1 * min(told.sum(), never.sum())
    bare = told & ~found.capped  # where targets are bounded, the others look masked anyhow
    if (bare & found.added).sum() >= 8:
        told = bare
    for way, hit in (("follows", told & found.added), ("zero", told & found.masked)):
        if not shifted and told.sum() >= 8 and hit.sum() >= 0.9 * told.sum():
            if way == "follows" and never.sum() > 0.05 * told.sum():
                continue
            audits = len(np.unique(found.audit[hit]))
            ends.append(Ending("terminated", way, way == "zero", int(told.sum()), int(hit.sum()), audits, share))
    judged = int((found.added | found.masked).sum())
    if not ends and not found.masked.any() and judged * found.often >= 20:
        audits = len(np.unique(found.audit[found.added]))
        expected = int(judged * found.often)
        ends.append(Ending("terminated", "follows", False, expected, expected, audits, found.often))
    return QFormula(
        name=found.name, gamma=found.gamma, reward=1.0, changed="", share=found.share, rows=found.rows,
        audits=found.audits, mistake=mistake_of(found.name) or ("reward-late" if shifted else ""), endings=tuple(ends),
        traced=False,
    )  # fmt: skip
