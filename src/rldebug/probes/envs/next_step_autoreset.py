"""A vector that restarts an episode in the step after its end."""

from __future__ import annotations

from rldebug.probes.envs.unequal_episodes import UnequalEpisodes


class NextStepAutoreset(UnequalEpisodes):
    """A vector restarts with an extra step: that one must not be learned.

    ## What it asks
    The problem of `unequal-episodes`, in a vector that uses a step of its own to restart what has ended. For agents
    that take their environments side by side from `make_env.vector(n)`.

    ## What failing means
    The extra step, from the last observation of one episode to the first of the next, is learned from like any other,
    though its action was ignored and its reward is nobody's.
    """

    name = "next-step-autoreset"
    rung = 34
    after = "truncated-episode"
    autoreset = "next-step"
    wants = ("vector",)
