"""A vector that restarts nothing by itself."""

from __future__ import annotations

from rldebug.probes.envs.unequal_episodes import UnequalEpisodes


class DisabledAutoreset(UnequalEpisodes):
    """A vector restarts nothing: who resets must not lose the last look.

    ## What it asks
    The problem of `unequal-episodes`, in a vector that is reset by the agent, with a mask. For agents that take
    their environments side by side from `make_env.vector(n)`.

    ## What failing means
    The observation that an episode was cut off at is overwritten by the reset before it was learned from, or all
    environments are reset where one has ended.
    """

    name = "disabled-autoreset"
    rung = 36
    after = "truncated-episode"
    autoreset = "disabled"
    wants = ("vector",)
