"""Rewards that were normalised when they were sampled: the program uses other numbers than it was once handed.

What it used was seen. It stands for the reward only where both say the same, but for a factor: a reward that was stored
wrongly must stay wrong.
"""

from __future__ import annotations

import numpy as np

from rldebug.evidence.script import Audit, Event
from rldebug.forensics.robust_fit import Array
from rldebug.forensics.target_rows import Flags

_ALIKE = 0.8  # of the rows have about the same factor between what was handed over and what was used
_ABOUT = 3.0  # statistics move while they are young


def used_rewards(audit: Audit, term: Event, handed: Array, known: Flags) -> Array:
    """The rewards of a batch, as the targets were made of them."""
    told = [
        each for each in audit.of("rescaled") if each.order < term.order and len(each.arrays["used"]) == len(handed)
    ]
    used = told[-1].arrays["used"] if told else None
    if used is None:
        return handed
    felt = known & (np.abs(handed) > 1e-6) & (np.abs(used) > 1e-6)
    if felt.sum() < 4:
        return handed
    factor = used[felt] / handed[felt]
    middle = float(np.median(factor))
    alike = (factor > middle / _ABOUT) & (factor < middle * _ABOUT)
    return np.asarray(used, dtype=np.float64) if middle > 0 and alike.mean() >= _ALIKE else handed
