"""Some actions are forbidden, and only the mask tells which."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.probes.probe import Probe

PAYS = {"low": (0.0, 1.0, -2.0, -2.0), "high": (-2.0, -2.0, 1.0, 0.0)}


class MaskedActions(Probe):
    """Two of four actions are forbidden, and only the mask tells which.

    ## What it asks
    Now the first two actions may be taken, now the last two: what is seen is the same. Of those that may be taken one
    pays 1 and one nothing; those that may not cost 2. The mask is `info["action_mask"]`, and `action_masks()`.

    ## What failing means
    The mask is not used, means the opposite, is that of another step or environment, or is used when acting and not
    when learning, where the probability of an action is then another.
    """

    name = "masked-actions"
    rung = 30
    after = "observed-action-reward"
    asks = "return"
    states = tuple(PAYS)
    starts = dict.fromkeys(PAYS, 0.5)
    actions = 4
    wants = ("masks",)
    patience = 2.0

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, PAYS[state][int(action)]

    def look(self, state: str) -> str:
        return "here"

    def allowed(self, state: str) -> NDArray[np.bool_]:
        return np.array(PAYS[state]) > -2.0

    def returns(self) -> tuple[float, float]:
        return float(np.mean(list(PAYS.values()))), 1.0  # the best of one who sees the mask
