"""What a target of Q-learning does at the ends of episodes, once the formula within them is known."""

from __future__ import annotations

import numpy as np

from rldebug.forensics.robust_fit import Array
from rldebug.forensics.target_ends import Ending
from rldebug.forensics.target_rows import Flags, Ints

_GOOD = 0.9
_FAIR = 0.8  # where windows may be others that look the same


def at_ends(
    target: Array,
    reward: Array,
    boot: Array,
    known: Flags,
    terminated: Flags,
    truncated: Flags,
    audit: Ints,
    tol: float,
) -> tuple[Ending, ...]:
    found = []
    wide = 3.0 * tol
    for kind, keep, good in (("terminated", terminated, "zero"), ("truncated", truncated, "follows")):
        keep = keep & known & np.isfinite(reward)
        zero = np.abs(target - reward) <= wide
        onward = np.abs(target - reward - boot) <= wide  # False where nothing was asked
        told = keep & ~(np.abs(boot) <= 8.0 * wide)
        if told.sum() < 4:
            continue
        for way, hit, stray in (("zero", zero, onward), ("follows", onward, zero)):
            if (hit & told).sum() >= _GOOD * told.sum() and (stray & told).sum() <= 0.1 * told.sum():
                audits = len(np.unique(audit[hit & told]))
                found.append(
                    Ending(
                        kind,
                        way,
                        way == good,
                        int(told.sum()),
                        int((hit & told).sum()),
                        audits,
                        float(keep.sum() / known.sum()),
                    )
                )
    return tuple(found)


def entropy_at_ends(
    target: Array, reward: Array, boot: Array, rest: Array, ended: Flags, audit: Ints, tol: float
) -> tuple[Ending, ...]:
    """Terminated steps that are paid the entropy of an action that is never taken."""
    told = ended & np.isfinite(reward) & (np.abs(rest) > 24.0 * tol) & (np.abs(boot) > 24.0 * tol)
    hit = told & (np.abs(target - reward - rest) <= 3.0 * tol)
    if told.sum() < 4 or hit.sum() < _GOOD * told.sum():
        return ()
    share = float(ended.mean())
    return (Ending("terminated", "entropy", False, int(told.sum()), int(hit.sum()), len(np.unique(audit[hit])), share),)


def reset_at_ends(
    reset: Flags, target: Array, reward: Array, boot: Array, cut: Flags, audit: Ints, tol: float
) -> tuple[Ending, ...]:
    """Truncated steps that bootstrap from the observation of the reset."""
    told = reset & cut & ~(np.abs(boot) <= 24.0 * tol)
    hit = told & (np.abs(target - reward - boot) <= 3.0 * tol)
    if told.sum() < 4 or hit.sum() < _GOOD * told.sum():
        return ()
    share = float(cut.sum() / len(cut))
    return (Ending("truncated", "reset", False, int(told.sum()), int(hit.sum()), len(np.unique(audit[hit])), share),)


def lost_at_ends(
    target: Array, reward: Array, inner: Flags, ended: Flags, audit: Ints, tol: float
) -> tuple[Ending, ...]:
    """Terminated steps that were paid, with a target of 0; or paid what no other is, with the target of another."""
    usual = np.unique(np.round(reward[inner], 6))
    if not len(usual) or len(usual) > 4:
        return ()
    told = ended & np.isfinite(reward) & (np.abs(reward) > 50.0 * tol)
    own = np.abs(reward[:, None] - usual).min(axis=1) > 50.0 * tol  # paid at ends alone
    lost = told & (np.abs(target) <= 3.0 * tol)
    lost |= told & own & (np.abs(target[:, None] - usual).min(axis=1) <= 3.0 * tol)
    for cut in (np.clip(reward, -1.0, 1.0), np.sign(reward)):  # bounded on purpose
        lost &= ~(np.abs(target - cut) <= 3.0 * tol)
    if told.sum() < 6 or lost.sum() < _GOOD * told.sum():
        return ()
    share = float(ended.mean())
    return (Ending("terminated", "lost", False, int(told.sum()), int(lost.sum()), len(np.unique(audit[lost])), share),)


def last_lost_at_ends(
    target: Array, total: Array, last: Array, ended: Flags, audit: Ints, tol: float
) -> tuple[Ending, ...]:
    """Windows of several steps up to an end, without what was paid at that end. last: its part of the total."""
    told = ended & np.isfinite(total) & (np.abs(last) > 50.0 * tol)
    lost = told & (np.abs(target - total + last) <= 3.0 * tol)
    if lost.sum() < 6 or lost.sum() < _FAIR * told.sum():
        return ()
    share = float(ended.mean())
    return (Ending("terminated", "lost", False, int(told.sum()), int(lost.sum()), len(np.unique(audit[lost])), share),)


def reversed_at_ends(
    target: Array, total: Array, reversed_total: Array, ended: Flags, audit: Ints, tol: float
) -> tuple[Ending, ...]:
    """Windows of several steps up to an end, whose rewards are discounted the more the earlier they were paid."""
    told = ended & np.isfinite(total) & (np.abs(reversed_total - total) > 50.0 * tol)
    hit = told & (np.abs(target - reversed_total) <= 3.0 * tol)
    if hit.sum() < 6 or hit.sum() < _FAIR * told.sum():
        return ()
    share, audits = float(ended.mean()), len(np.unique(audit[hit]))
    return (Ending("terminated", "reversed", False, int(told.sum()), int(hit.sum()), audits, share),)


def opposed_at_ends(target: Array, reward: Array, ended: Flags, audit: Ints, tol: float) -> tuple[Ending, ...]:
    """Terminated steps whose target is the reward with the opposite sign: that of whoever plays against."""
    told = ended & np.isfinite(reward) & (np.abs(reward) > 50.0 * tol)
    hit = told & (np.abs(target + reward) <= 3.0 * tol)
    both = (reward[hit] > 0).any() and (reward[hit] < 0).any()  # a constant would do with one of them
    if told.sum() < 6 or not both or hit.sum() < _GOOD * told.sum():
        return ()
    share = float(ended.mean())
    return (Ending("terminated", "opposed", False, int(told.sum()), int(hit.sum()), len(np.unique(audit[hit])), share),)


def cut_perhaps(
    target: Array, reward: Array, boot: Array, inner: Flags, perhaps: Flags, audit: Ints, tol: float
) -> tuple[Ending, ...]:
    """Where observations come back: rows that a time limit may have struck, and whose target is the reward alone.

    No such row may be: each step from there goes on. Where no limit ever struck, none is.
    """
    told = inner & np.isfinite(reward) & (np.abs(boot) > 24.0 * tol)
    alone = told & (np.abs(target - reward) <= 3.0 * tol)
    hit, stray = alone & perhaps, alone & ~perhaps
    if hit.sum() < 6 or stray.sum() > 0.25 * hit.sum():
        return ()
    audits, share = len(np.unique(audit[hit])), float(hit.mean())
    return (Ending("truncated", "zero", False, int(hit.sum()), int(hit.sum()), audits, share),)
