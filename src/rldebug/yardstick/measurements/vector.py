"""A step of several environments: in this process one after the other, and in processes of their own.

All is played in a child process, the user's environment too: what it does there does no harm here.
"""

from __future__ import annotations

from rldebug.evidence.timing import Measured, Timing
from rldebug.yardstick.shape import Shape, share, training_environments
from rldebug.yardstick.stepping import stepped

NAME = "vector"
ENOUGH = 0.1
MOST_LANES = 8
SECONDS = 2.5  # that the child may take; importing Gymnasium is most of it


def asked(timing: Timing) -> Shape | None:
    concerned = max(share(timing, "waiting"), share(timing, "simulator"))
    environments = training_environments(timing)
    if concerned < ENOUGH or not environments:
        return None
    busiest = max(environments, key=lambda each: each.steps)
    lanes = sum(each.lanes for each in environments)
    return Shape(concerned, lanes=min(lanes if lanes > 1 else 4, MOST_LANES), spec=busiest.spec)


def measure(shape: Shape) -> Measured:
    """Detail, in seconds per step and environment: `sync` and `async` of CartPole-v1, whose step is next to nothing.

    Where the user's own can be made there: `env` by itself, `env_reset` per reset, `env_sync` and `env_async`.
    """
    detail = stepped(shape.spec, shape.lanes, min(SECONDS, shape.limit))
    if "sync" not in detail or "async" not in detail:
        raise TimeoutError("no answer from the process that plays")
    what = f"gymnasium SyncVectorEnv of {shape.lanes} × CartPole-v1, a step of one"
    return Measured(NAME, what, detail["sync"], instead=detail["async"], detail=detail)
