"""Weights that were not shuffled with their rows: the k-th row of an epoch has the advantage of the k-th step.

Minibatches are drawn by a permutation. Where it was left out for the advantages, each minibatch has those of a slice of
the rollout, in the order in which it was laid down, and the observations of other steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from rldebug.evidence.script import Audit, Event
from rldebug.forensics.node_places import Array, Ints, base_update, places_of, same
from rldebug.forensics.robust_fit import affine, tolerance

_ROWS = 24
_GOOD = 0.95
_SAME = 0.3  # share of the rows that may look like the step of their place by chance


def unshuffled(
    audit: Audit, term: Event, weight: Array, start: int, advantage: Mapping[int, float]
) -> tuple[float, float] | None:
    """Slope and share of the rows that have the advantages of the steps from `start` on, and are others themselves."""
    base = base_update(audit, term)
    if base is None:
        return None
    look = same(audit.nodes)
    own = places_of(audit.nodes, term.arrays["rows"])
    for order in _orders(audit, base):
        begin = start % max(len(order), 1)  # of the next epoch
        there = order[begin : begin + len(weight)]
        if len(there) < len(weight):
            continue
        seen = np.array([advantage.get(int(each), np.nan) for each in there])
        keep = np.isfinite(seen) & np.isfinite(weight) & (own >= 0)
        if keep.sum() < _ROWS or keep.sum() < 0.5 * len(weight) or float(np.std(seen[keep])) < 1e-9:
            continue
        if (look[there[keep]] == look[own[keep]]).mean() > _SAME:
            continue
        tol = tolerance(weight[keep])
        fit = affine(weight[keep], seen[keep], tol)
        if fit and fit.share >= _GOOD and float(fit.coef[0]) * float(np.std(seen[keep])) > 20 * tol:
            return float(fit.coef[0]), fit.share
    return None


def _orders(audit: Audit, base: int) -> Iterator[Ints]:
    """The steps of a stretch by time, and lane by lane."""
    nodes = audit.nodes
    steps = np.flatnonzero(nodes.acted & ~nodes.phantom & (nodes.update == base))
    yield steps
    lanes = nodes.lane[steps] + 4096 * nodes.stream[steps]
    if len(np.unique(lanes)) > 1:
        yield steps[np.argsort(lanes, kind="stable")]
