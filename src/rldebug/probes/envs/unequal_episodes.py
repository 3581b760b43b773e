"""Episodes cut off at different times side by side, in places worth something else than the next beginning."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class UnequalEpisodes(Probe):
    """Episodes cut off at different times: what follows is worth its own.

    ## What it asks
    A way of three states to a reward of 1. Episodes begin anywhere on it, or in a pit that pays −3, and are cut off
    after one step, two, or three: each of the environments side by side has its own limit. A state is worth what lies
    ahead of it on the way, wherever the episode was cut off.

    ## What failing means
    What a cut-off episode would have been worth is taken from the first observation of the next one, which a vector
    environment returns in its place: the last one is in `info["final_obs"]`. Or the step in which a vector environment
    resets itself, whose action and reward mean nothing, is learned from.
    """

    name = "unequal-episodes"
    rung = 9
    after = "truncated-episode"
    states = ("far", "near", "goal", "pit")
    starts = {"far": 0.25, "near": 0.25, "goal": 0.25, "pit": 0.25}  # noqa: RUF012 - never written to
    patience = 1.5

    def step(self, state: str, action: Any) -> tuple[str | None, float]:
        if state in ("far", "near"):
            return ("near" if state == "far" else "goal"), 0.0
        return None, 1.0 if state == "goal" else -3.0

    def limit(self, env_index: int) -> int:
        return 1 + env_index % 3
