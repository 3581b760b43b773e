"""PettingZoo's environments that take turns (AEC): each agent is an environment of its own.

`last()` tells the agent whose turn it is what it sees, and what it was paid since it acted last; `step(action)` acts
for it. So the step of an agent is known when it is asked for the next action. One that has ended is given None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

from rldebug.capture.env_calls import GROUP, Shared, shared_by
from rldebug.capture.env_facts import action_facts, observation_facts, unwrapped
from rldebug.capture.env_results import host
from rldebug.capture.env_watch import Watch
from rldebug.capture.imports import when_imported
from rldebug.capture.switch import Switchboard
from rldebug.capture.vec_environments import observed


class Player:
    """One agent of one game."""


class Game:
    def __init__(self, env: Any) -> None:
        self.ref = ref(env)
        self.players: dict[Any, Player] = {}
        self.sent: dict[Any, Any] = {}  # what an agent did last, and was not yet told the outcome of
        self.playing: set[Any] = set()  # agents that have been shown something since the reset
        self.over: set[Any] = set()
        self.fresh = False  # nobody has been told anything since the last step
        self.seed: Any = None


class Turns(Watch):
    kind = "pettingzoo-turns"
    methods = {"reset": "reset", "step": "turn", "last": "last"}  # noqa: RUF012

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.games: dict[int, Game] = {}

    def game(self, env: Any) -> Game:
        inner = unwrapped(env)
        found = self.games.get(id(inner))
        if found is None or found.ref() is not inner:
            self.games = {key: each for key, each in self.games.items() if each.ref() is not None}
            found = self.games[id(inner)] = Game(inner)
        return found

    # ── the calls ───────────────────────────────────────────────────────────────────────────────────────────────────

    def turn(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        """step: for the agent whose turn it is before the call."""
        if GROUP in self.off:
            return original(env, *args, **kwargs)
        agent = self.switch.guard(GROUP, getattr, env, "agent_selection")
        action = self.action_of(args, kwargs)
        result = self.call(original, env, args, kwargs)
        self.tell(self.saw_turn, env, agent, action)
        return result

    def last(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        result = self.call(original, env, args, kwargs)
        if GROUP not in self.off:
            self.tell(self.saw_last, env, result)
        return result

    # ── what is seen ────────────────────────────────────────────────────────────────────────────────────────────────

    def saw_reset(self, env: Any, result: Any, seed: Any, mask: Any) -> None:
        game = self.game(env)
        game.sent.clear()
        game.playing.clear()
        game.over.clear()
        game.fresh, game.seed = True, seed

    def saw_turn(self, env: Any, agent: Any, action: Any) -> None:
        game = self.game(env)
        game.fresh = True
        if action is not None and agent not in game.over:
            game.sent[agent] = host(action)

    def saw_last(self, env: Any, result: Any) -> None:
        game, agent = self.game(env), env.agent_selection
        obs, reward, terminated, truncated, _ = result
        if not game.fresh or obs is None or agent in game.over:
            return  # asked a second time, without looking, or of an agent that is out
        game.fresh = False
        player = game.players.get(agent)
        if player is None:
            player = game.players[agent] = Player()
            self.log.new(player, self.kind, 1, "disabled", facts_of(env, agent, player))
        obs = observed(host(obs))
        if agent in game.sent:
            self.log.step(player, game.sent.pop(agent), obs, reward, bool(terminated), bool(truncated), None)
        elif agent not in game.playing:
            self.log.reset(player, obs, game.seed, 1)
        game.playing.add(agent)
        if terminated or truncated:
            game.over.add(agent)


def facts_of(env: Any, agent: Any, player: Player) -> dict[str, Any]:
    """What lies in the environment; its methods are not called for us."""
    inner = unwrapped(env)
    name = f"{type(inner).__name__} · {agent}"
    facts: dict[str, Any] = {"id": name, "class": type(inner).__name__, "agents": [str(agent)], "worlds": [id(player)]}
    spaces = {"obs": getattr(inner, "observation_spaces", None), "action": getattr(inner, "action_spaces", None)}
    if isinstance(spaces["obs"], dict) and agent in spaces["obs"]:
        facts |= observation_facts(spaces["obs"][agent])
    if isinstance(spaces["action"], dict) and agent in spaces["action"]:
        facts |= action_facts(spaces["action"][agent])
    return facts


def install(switch: Switchboard, log: Any) -> None:
    shared = shared_by(switch, log)

    def cover(module: Any) -> None:
        if hasattr(module, "AECEnv"):  # not so in old releases
            Turns(shared).cover(module.AECEnv)

    when_imported(switch, GROUP, "pettingzoo.utils.env", cover)
