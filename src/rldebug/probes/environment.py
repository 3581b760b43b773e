"""A probe as a Gymnasium environment, and what was played on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from rldebug.probes.encodings import choice, look
from rldebug.probes.probe import Probe


class Step(NamedTuple):
    """One step as it was played; `look` and `action` are numbers of the probe's looks and choices."""

    env: int
    look: int
    action: float  # a number where the probe has a range
    reward: float
    ended: bool
    allowed: bool


class ProbeEnv(gym.Env[Any, Any]):
    """`probe`, looking like `obs`, taking actions like `action`. `played` is called with every step.

    Several side by side are told apart by `index`: some probes have other time limits, or rewards, in each.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own way

    def __init__(
        self,
        probe: Probe,
        *,
        obs: str | None = None,
        action: str | None = None,
        index: int = 0,
        played: Callable[[Step], None] | None = None,
    ) -> None:
        self.probe, self.index = probe, index
        wanted = action or probe.action
        self._look = look(obs or probe.obs, len(probe.looks))
        self._choice = choice(wanted, probe.actions, probe.range)
        self.observation_space, self.action_space = self._look.space, self._choice.space
        self._played = played
        self._row = {state: probe.looks.index(probe.look(state)) for state in probe.states}
        self._state: str | None = None
        self._first = probe.states[0]
        self._steps = 0
        self.masks_read = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        chances = self.probe.restart_in(self.index, self._first)
        self._state = self._first = self._draw(tuple(chances), tuple(chances.values()))
        self._steps = 0
        return self._shown(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        state = self._state
        if state is None:
            raise RuntimeError("the episode is over, or has not begun: call reset() first")
        chosen = self._choice.read(action)
        allowed = self.probe.allowed(state)
        outcomes = self.probe.outcomes(state, chosen)
        happened = outcomes[0] if len(outcomes) == 1 else self._draw(outcomes, [each.probability for each in outcomes])
        self._steps += 1
        terminated = happened.next is None
        limit = self.probe.limit(self.index)
        truncated = limit is not None and self._steps >= limit and not terminated
        if self._played is not None:
            may = True if allowed is None else bool(allowed[chosen])
            self._played(Step(self.index, self._row[state], chosen, happened.reward, terminated or truncated, may))
        # Where it terminated there is no next state: the last one is shown once more, and nobody should ask its value.
        self._state = state if terminated else happened.next
        shown = self._shown()
        info = self._info()
        if terminated or truncated:
            self._state = None
        return shown, happened.reward, terminated, truncated, info

    def action_masks(self) -> Any:
        """Which actions may be taken now, as sb3-contrib asks for them."""
        self.masks_read += 1
        allowed = None if self._state is None else self.probe.allowed(self._state)
        return np.ones(self.probe.actions, dtype=bool) if allowed is None else allowed

    def optimal_action(self) -> Any:
        """What an agent would do that knew the answer."""
        solved = self.probe.solve()
        best = solved.best_action(self.probe.look(self._state or self._first))
        return self.encode_action(best)

    def encode_action(self, chosen: float) -> Any:
        """The action that stands for a choice."""
        space = self.action_space
        if isinstance(space, gym.spaces.Discrete):
            return np.int64(chosen)
        if isinstance(space, gym.spaces.MultiDiscrete):
            digits, rest = [], int(chosen)
            for base in reversed(space.nvec.tolist()):
                digits.append(rest % base)
                rest //= base
            return np.array(digits[::-1], dtype=space.dtype)
        if self.probe.range is not None:
            return np.array([chosen], dtype=np.float32)
        return np.array([(2 * chosen + 1) / self.probe.actions - 1], dtype=np.float32)

    def show(self, row: int, rng: np.random.Generator) -> Any:
        """An observation of the look with this number."""
        return self._look.show(row, rng)

    def read(self, action: Any) -> float:
        """The choice that an action stands for."""
        return float(self._choice.read(action))

    def _shown(self) -> Any:
        assert self._state is not None
        return self._look.show(self._row[self._state], self.np_random)

    def _info(self) -> dict[str, Any]:
        allowed = None if self._state is None else self.probe.allowed(self._state)
        return {} if allowed is None else {"action_mask": allowed}

    def _draw(self, things: Sequence[Any], chances: Sequence[float]) -> Any:
        if len(things) == 1:
            return things[0]
        at = float(self.np_random.random())
        for thing, chance in zip(things, chances, strict=True):
            at -= chance
            if at < 0:
                return thing
        return things[-1]
