"""What several rules ask of answers: how two things go together within the groups that belong to one prompt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.generations import Generations, Round


def correlations(evidence: Generations, one: str, other: str, *, late: bool = False) -> NDArray[np.float64]:
    """Of two columns, for each whole group in which both differ."""
    rounds = evidence.rounds[len(evidence.rounds) // 2 :] if late else evidence.rounds
    return np.array([each for round in rounds for each in _within(round, one, other, evidence.size)], dtype=np.float64)


def one_place_off(evidence: Generations) -> bool:
    """Whether log-probs of sampler and trainer fit, once they are moved by one place."""
    k3, shifted = evidence.passed("sampled_k3", fresh=True), evidence.passed("shifted_k3", fresh=True)
    known = np.isfinite(k3) & np.isfinite(shifted)
    return bool(known.any()) and float(shifted[known].mean()) < 0.2 * float(k3[known].mean())


def _within(round: Round, one: str, other: str, size: int) -> list[float]:
    found = []
    x, y = round.column(one).astype(float), round.column(other).astype(float)
    for rows in round.groups(size):
        if np.ptp(x[rows]) > 1e-6 and np.ptp(y[rows]) > 1e-6:  # NaN is not above anything
            found.append(float(np.corrcoef(x[rows], y[rows])[0, 1]))
    return found
