"""Agents whose behaviour is known: they say something about an environment, where a trained one would leave doubt.

An agent is a name, a kind and `act(obs, info, t) -> action`; one that learns also has
`observe(obs, action, reward, next_obs, terminated)`, called after each step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable


class Agent(Protocol):
    """`t` counts the steps since the reset, from 0; `info` is that of the last reset or step."""

    name: str
    kind: str

    def act(self, obs: Any, info: Mapping[str, Any], t: int) -> Any: ...


@runtime_checkable
class Learner(Protocol):
    """An agent that is told what came of its action."""

    def observe(self, obs: Any, action: Any, reward: float, next_obs: Any, terminated: bool) -> None: ...
