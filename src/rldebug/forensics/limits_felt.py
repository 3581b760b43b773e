"""Whether it matters that a critic learns time limits as ends: does it expect a future there, and is much of it missed?

A critic that knows the time expects nothing more where time is up. One that does not sees a state like any other: what
it expects there stands far above what it is taught, and that error is carried back over the whole horizon.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rldebug.evidence.script import Audit, Script
from rldebug.forensics.node_places import Array, Flags, Ints, Site, column_of, places_of, sited
from rldebug.forensics.roles import roles_of

_CUT = 12  # steps that were cut off: the newest, a critic has to have learned something
_OTHERS = 32  # steps within episodes, in the same stretch
_USUAL = 80.0  # percentile of the errors elsewhere that those at limits are held against
_SAME = 0.02  # of its spread: an element that is nearly the same wherever time is up may be a clock


@dataclass(frozen=True)
class Felt:
    """Of the newest steps that were cut off."""

    rows: int
    expected: float  # what the critic expects there: the median
    taught: float
    missed: float  # the difference, in spreads of the targets; its sign is left out
    share: float  # of these steps, in how many it is more than in most others
    length: float  # of episodes that were cut off
    cut: float  # share of the episodes that were


@dataclass(frozen=True, eq=False)
class _Stretch:
    audit: Audit
    expected: Array
    taught: Array
    limited: Flags
    places: Ints


def horizon_lost(gamma: float, length: float) -> float:
    """Share of the value of a state, averaged over an episode, that lies behind the limit: rewards all alike."""
    if length < 1:
        return 0.0
    whole = length * (1.0 - gamma)
    return 1.0 if abs(whole) < 1e-6 else (1.0 - gamma**length) / whole


def felt_at_limits(script: Script, site: Site) -> Felt | None:
    """None where too little was seen, or where the observation tells the time."""
    ends = _episodes(script)
    newest: list[_Stretch] = []
    for audit in reversed(script.audits):
        found = _stretch(audit, site)
        if found is not None:
            newest.append(found)
        if sum(int(each.limited.sum()) for each in newest) >= _CUT:
            break
    if ends is None or sum(int(each.limited.sum()) for each in newest) < _CUT or _clock(newest):
        return None
    expected = np.concatenate([each.expected[each.limited] for each in newest])
    taught = np.concatenate([each.taught[each.limited] for each in newest])
    sign = 1.0 if np.median(expected - taught) > 0 else -1.0
    missed, above = [], []
    for each in newest:
        errors = sign * (each.expected - each.taught)
        missed.append(errors[each.limited] / np.std(each.taught[~each.limited]))
        above.append(errors[each.limited] > np.percentile(errors[~each.limited], _USUAL))
    return Felt(
        rows=len(expected),
        expected=float(np.median(expected)),
        taught=float(np.median(taught)),
        missed=float(np.median(np.concatenate(missed))),
        share=float(np.concatenate(above).mean()),
        length=ends[0],
        cut=ends[1],
    )


def _stretch(audit: Audit, site: Site) -> _Stretch | None:
    """Each step that the loss at this place of the program learned from, once."""
    nodes = audit.nodes
    seen: dict[int, tuple[float, float]] = {}
    for found, term in sited(audit, "regression"):
        expected, taught = column_of(term, "prediction"), column_of(term, "target")
        if found != site or expected is None or taught is None:
            continue
        places = places_of(nodes, term.arrays["rows"])
        good = (places >= 0) & np.isfinite(expected) & np.isfinite(taught)
        good &= np.where(good, nodes.acted[places] & ~nodes.phantom[places] & (nodes.alike[places] == 0), False)
        for place, one, two in zip(places[good].tolist(), expected[good].tolist(), taught[good].tolist(), strict=True):
            seen.setdefault(place, (one, two))
    at = np.array(sorted(seen), dtype=np.int64)
    if not len(at):
        return None
    pairs = np.array([seen[each] for each in at.tolist()])
    limited = nodes.truncated[at] & ~nodes.terminated[at]
    inner = ~limited & ~nodes.terminated[at]
    if not limited.any() or inner.sum() < _OTHERS or not np.std(pairs[inner, 1]) > 0.0:
        return None
    keep = limited | inner
    return _Stretch(audit, pairs[keep, 0], pairs[keep, 1], limited[keep], at[keep])


def _clock(stretches: list[_Stretch]) -> bool:
    """Whether an element of the observations is nearly the same wherever time is up, and moves elsewhere."""
    ended = [each.audit.nodes.obs[each.places[each.limited]] for each in stretches]
    other = [each.audit.nodes.obs[each.places[~each.limited]] for each in stretches]
    if len({each.shape[1] for each in ended}) != 1 or not ended[0].shape[1]:
        return False
    here, there = np.concatenate(ended), np.concatenate(other)
    here, there = here[np.isfinite(here).all(axis=1)], there[np.isfinite(there).all(axis=1)]
    if len(here) < 4 or len(there) < 4:
        return False
    spread = there.std(axis=0)
    return bool(((spread > 0.0) & (here.std(axis=0) <= _SAME * spread)).any())


def _episodes(script: Script) -> tuple[float, float] | None:
    """Of the environment that is trained in: the length of episodes that were cut off, and the share of those."""
    stream = roles_of(script).stream
    own = next((each for each in script.streams if int(each["index"]) == stream), None)
    if own is None:
        return None
    ended, cut = int(own.get("terminations") or 0), int(own.get("truncations") or 0)
    lengths, flags = own.get("lengths") or (), own.get("terminated") or ()
    limited = [float(length) for length, flag in zip(lengths, flags, strict=False) if not flag]
    return (float(np.median(limited)), cut / (cut + ended)) if cut and limited else None
