"""Like observed-action-reward, with noise beside what matters."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class NoisyObservation(Probe):
    """The right action depends on what is seen, beside eight numbers of noise.

    ## What it asks
    Two states, two actions; of ten numbers that are seen two tell the state, and eight are new noise at every step.

    ## What failing means
    Observations of different steps are mixed up (a buffer that keeps references, frames overwritten in place), which
    noise makes visible, or what is fitted is the noise.
    """

    name = "noisy-observation"
    rung = 17
    after = "observed-action-reward"
    asks = "policy"
    states = ("left", "right")
    starts = {"left": 0.5, "right": 0.5}  # noqa: RUF012 - never written to
    obs = "noisy"

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, 1.0 if action == self.states.index(state) else -1.0
