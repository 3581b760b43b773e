"""Whether the entropy in a log is that of a choice among a few actions, and the most it can be."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from rldebug.evidence.foreign.known import ends_with
from rldebug.evidence.foreign.log import Column

_NEAR = {**dict.fromkeys(range(2, 11), 0.05), 18: 0.01}
"""By number of actions, how much of the maximum may be missing on the first line. Only usual numbers: a Gaussian of
unit width begins at 1.419, 2.838 or 4.257."""
_GAUSSIAN = ("train/std", "train/actor_logstd", "policy/std", "std")


def most_entropy(entropy: Column | None, tags: Iterable[str]) -> float | None:
    """A new policy is nearly uniform: an entropy that begins at the logarithm of a small whole number, never exceeds it
    and never falls below 0 is taken for one of so many actions. None where it is not like that; densities have no
    maximum."""
    if entropy is None or any(ends_with(tag, _GAUSSIAN) for tag in tags):
        return None
    value = entropy.value[np.isfinite(entropy.value)]
    if not len(value) or value.min() < -1e-6:
        return None
    for actions, missing in _NEAR.items():
        most = math.log(actions)
        if value[0] >= (1.0 - missing) * most and value.max() <= (1.0 + 1e-4) * most:
            return most
    return None
