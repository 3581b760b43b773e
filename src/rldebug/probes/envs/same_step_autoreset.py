"""A vector that restarts an episode in the very step it ends in."""

from __future__ import annotations

from rldebug.probes.envs.unequal_episodes import UnequalEpisodes


class SameStepAutoreset(UnequalEpisodes):
    """A vector restarts at once: the last observation is in the info.

    ## What it asks
    The problem of `unequal-episodes`, in a vector that returns the first observation of the next episode in the
    step an episode ends in. For agents that take their environments side by side from `make_env.vector(n)`.

    ## What failing means
    A cut-off episode is bootstrapped from the observation that was returned, which is the next episode's first, and not
    from `info["final_obs"]`.
    """

    name = "same-step-autoreset"
    rung = 35
    after = "truncated-episode"
    autoreset = "same-step"
    wants = ("vector",)
