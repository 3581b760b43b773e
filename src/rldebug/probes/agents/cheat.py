"""The agent that knows: it asks the environment itself what is best, where the environment can tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym


class Cheat:
    """Asks `env.unwrapped.optimal_action()`, or `env.unwrapped.cheat(obs)`: it may read the hidden state."""

    kind = "cheat"

    def __init__(self, ask: Callable[[Any], Any]) -> None:
        self.name = "cheat"
        self.ask = ask

    def act(self, obs: Any, info: Mapping[str, Any], t: int) -> Any:
        return self.ask(obs)


def cheat(env: gym.Env[Any, Any]) -> Cheat | None:
    """The cheat for this very environment, which must be the one it plays; None where it cannot tell."""
    inner = env.unwrapped
    knows = getattr(inner, "optimal_action", None)
    if callable(knows):
        return Cheat(lambda obs: knows())
    sees = getattr(inner, "cheat", None)
    return Cheat(sees) if callable(sees) else None
