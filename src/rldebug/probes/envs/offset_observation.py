"""Like observed-action-reward, with observations far from 0."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class OffsetObservation(Probe):
    """The right action depends on what is seen, in numbers from 5000 to 5010.

    ## What it asks
    Two states, two actions. The states differ by 10 in numbers of 5000: a network sees that only behind a normaliser,
    which the algorithm says it has.

    ## What failing means
    The normaliser is not fed, not applied where it should be (acting and learning see different numbers), takes the
    mean but not the deviation, or clips before it subtracts.
    """

    name = "offset-observation"
    rung = 16
    after = "observed-action-reward"
    asks = "policy"
    states = ("left", "right")
    starts = {"left": 0.5, "right": 0.5}  # noqa: RUF012 - never written to
    obs = "offset"
    wants = ("normaliser",)

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, 1.0 if action == self.states.index(state) else -1.0
