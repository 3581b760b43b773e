"""Games of OpenSpiel: each player is told as an environment of its own, of which the others are a part.

A player's step begins where it is its turn and ends where it is its turn again, or where the game is over: what the
others do meanwhile belongs to it, and so do all rewards that the player gets until then. A call of `step` after the end
begins the next game, whatever action it is given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.capture.env_calls import GROUP, shared_by
from rldebug.capture.env_results import host
from rldebug.capture.env_watch import Known, Watch
from rldebug.capture.imports import when_imported
from rldebug.capture.switch import Switchboard

_FIRST, _LAST = 0, 2  # rl_environment.StepType
_EVERYBODY = -2  # rl_environment.SIMULTANEOUS_PLAYER_ID


class Player:
    """One that plays, as the log knows it."""

    def __init__(self) -> None:
        self.to_move = False  # not known of a game that is under way when it is met
        self.moved = False  # and where that has led is not told yet
        self.action: Any = None
        self.reward = 0.0  # since then


class OpenSpiel(Watch):
    kind = "open-spiel"

    def announce(self, env: Any, known: Known) -> None:
        self.shared.told[id(env)] = known.inner
        known.facts.update(_facts(env))
        known.agents = [Player() for _ in range(known.facts["players"])]
        for place, player in enumerate(known.agents):
            name = known.facts["id"] if len(known.agents) == 1 else f"{known.facts['id']}, player {place}"
            self.log.new(player, self.kind, 1, "disabled", {**known.facts, "id": name, "worlds": [id(player)]})

    def saw_reset(self, env: Any, result: Any, seed: Any, mask: Any) -> None:
        known = self.known_as(env)
        for player in known.agents:
            player.moved = False
        self._arrived(known, result, over=False)

    def saw_step(self, env: Any, action: Any, result: Any) -> None:
        if result.step_type.value == _FIRST:
            self.saw_reset(env, result, None, None)
            return
        known = self.known_as(env)
        for place, player in enumerate(known.agents):
            if player.to_move:
                player.moved, player.reward = True, 0.0
                player.action = host(action[place] if len(action) > 1 else action[0])
            player.reward += float(result.rewards[place])
        self._arrived(known, result, over=result.step_type.value == _LAST)

    def _arrived(self, known: Known, result: Any, over: bool) -> None:
        """Tell those whose turn it is, or all at the end, where their last step has led."""
        mover = result.observations["current_player"]
        for place, player in enumerate(known.agents):
            player.to_move = not over and mover in (place, _EVERYBODY)
            if not over and not player.to_move:
                continue
            obs = np.asarray(result.observations["info_state"][place], dtype=np.float32)
            if player.moved:
                self.log.step(player, player.action, obs, player.reward, over, False, None)
            elif player.to_move:
                self.log.reset(player, obs, None, 1)
            player.moved = False


def _facts(env: Any) -> dict[str, Any]:
    return {
        "id": str(env.name),
        "class": type(env).__name__,
        "wrappers": [],
        "obs_shape": [int(each) for each in env.observation_spec()["info_state"]],
        "action_space": "Discrete",
        "action_n": int(env.action_spec()["num_actions"]),
        "players": int(env.num_players),
    }


def install(switch: Switchboard, log: Any) -> None:
    watch = OpenSpiel(shared_by(switch, log))
    when_imported(switch, GROUP, "open_spiel.python.rl_environment", lambda module: watch.cover(module.Environment))
