"""Plays an environment of several agents at random, to see how it keeps the contract of PettingZoo's parallel ones.

The environment is asked for what the contract names (`agents`, `possible_agents`, `observation_space(agent)` …) and for
nothing else: PettingZoo itself need not be there. What raises ends the play, and is told by `examine`.
"""

from __future__ import annotations

import contextlib
import copy
import io
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np

from rldebug.evidence.agent_contract import AgentContract, Left
from rldebug.parts.generators import generators_kept
from rldebug.probes.examine_handout import Tally
from rldebug.probes.examine_layers import place
from rldebug.probes.examine_seeding import set_globals

_STEP = ("observations", "rewards", "terminations", "truncations", "infos")
_PAIRED = 16  # agents whose observations are compared
_RESET = ("observations", "infos")


def examine_agents(
    make: Callable[[], Any], *, name: str, steps: int = 2000, seed: int = 0, seconds: float = 5.0
) -> AgentContract:
    """Play `steps` steps of all agents, at most for about `seconds`. The global generators are left as they were."""
    deadline = time.perf_counter() + seconds
    with generators_kept(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        set_globals(seed)
        env = make()
        seen = _Seen(env)
        try:
            seen.look_at_spaces()
            while seen.steps < steps and time.perf_counter() < deadline and not seen.lost:
                seen.play(seed if not seen.steps else None, steps, deadline)
        except Exception:  # told by examine(), which calls the same
            pass
        finally:
            with contextlib.suppress(Exception):
                env.close()
    return seen.contract(name)


@dataclass
class _Seen:
    env: Any
    steps: int = 0
    episodes: int = 0
    lost: bool = False  # what is returned cannot be read
    absent: dict[str, Tally] = field(default_factory=lambda: {each: Tally() for each in _STEP})
    spaces: Tally = field(default_factory=Tally)
    left: dict[str, list[Any]] = field(default_factory=dict)  # what happened -> its first, how often, how often it may
    unknown: list[str] = field(default_factory=list)
    sharing: dict[tuple[str, str], bool] = field(default_factory=dict)  # two agents -> the same memory each time
    actions: dict[Any, gym.Space[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.possible = list(self.env.possible_agents)
        self.fewest = len(self.possible)

    # ── playing ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def play(self, seed: int | None, steps: int, deadline: float) -> None:
        """One episode."""
        result = self.env.reset() if seed is None else self.env.reset(seed=seed)
        if not (isinstance(result, tuple) and len(result) == 2 and all(isinstance(each, dict) for each in result)):
            self.lost = True
            return
        obs, infos = result
        there = list(self.env.agents)
        self.look_at_agents(there)
        self.look_at_keys(_RESET, result, there, "reset()", 0)
        self.look_at_memory(obs, there)
        gone: set[Any] = set()
        for step in range(1, steps + 1):
            if not there:
                self.episodes += 1
                return
            if self.steps >= steps or time.perf_counter() > deadline:
                return
            result = self.env.step({each: self.action(each, obs, infos) for each in there})
            self.steps += 1
            if not (isinstance(result, tuple) and len(result) == 5 and all(isinstance(each, dict) for each in result)):
                self.lost = True
                return
            obs, _, terminations, truncations, infos = result
            self.look_at_keys(_STEP, result, there, "step()", step)
            self.look_at_memory(obs, there)
            now = list(self.env.agents)
            self.look_at_agents(now)
            ended = {each for each in there if _true(terminations.get(each)) or _true(truncations.get(each))}
            for each in there:
                if each in ended:
                    self.note("stayed", each, step, "ended", happened=each in now)
                elif each not in now:
                    self.note("unsaid", each, step, "neither terminated nor truncated", happened=True)
                else:
                    self.note("unsaid", each, step, "", happened=False)
            for each in set(now) & gone:
                self.note("revived", each, step, "ended before", happened=True)
            gone |= ended
            stayed = [each for each in now if each in ended]
            if stayed and len(stayed) == len(now):  # it is over for all, and nobody says so
                self.episodes += 1
                return
            there = [each for each in now if each not in gone]

    def action(self, agent: Any, obs: Any, infos: Any) -> Any:
        space = self.action_space(agent)
        seen, told = obs.get(agent), infos.get(agent)
        masks = (each["action_mask"] for each in (seen, told) if isinstance(each, dict) and "action_mask" in each)
        mask = next(masks, None)
        if mask is not None:
            with contextlib.suppress(Exception):  # a mask that does not fit is none
                return space.sample(np.asarray(mask, np.int8))
        return space.sample()

    def action_space(self, agent: Any) -> gym.Space[Any]:
        """A copy of its own: the environment may draw from the space itself, and some make it anew for every call."""
        if agent not in self.actions:
            self.actions[agent] = copy.deepcopy(self.env.action_space(agent))
            self.actions[agent].seed(len(self.actions))
        return self.actions[agent]

    # ── looking ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def look_at_spaces(self) -> None:
        for agent in self.possible:
            for name in ("observation_space", "action_space"):
                ask = getattr(self.env, name)
                one, other = ask(agent), ask(agent)
                self.spaces.of += 1
                if one is not other:
                    same = _equal(one, other)
                    seen = "another object each time" if same else f"{one}, then {other}"
                    self.spaces.add(f"{name}({agent!r})", seen, "one and the same", "__init__", 0, lenient=same)

    def look_at_agents(self, there: list[Any]) -> None:
        possible = list(self.env.possible_agents)
        self.fewest = min(self.fewest, len(possible))
        for each in there:
            if each not in self.possible and str(each) not in self.unknown:
                self.unknown.append(str(each))

    def look_at_keys(self, names: tuple[str, ...], result: Any, there: list[Any], call: str, step: int) -> None:
        for name, given in zip(names, result, strict=True):
            tally = self.absent[name]
            tally.of += len(there)
            missing = [str(each) for each in there if each not in given]
            for each in missing:
                tally.add(name, f"nothing for {each}", "one for each agent that is there", call, step)

    def look_at_memory(self, obs: Any, there: list[Any]) -> None:
        """Whether two agents are handed the same memory."""
        arrays = [(str(each), obs[each]) for each in there if isinstance(obs.get(each), np.ndarray) and obs[each].size]
        for at, (one, first) in enumerate(arrays[:_PAIRED]):
            for other, second in arrays[at + 1 : _PAIRED]:
                same = bool(first.ctypes.data == second.ctypes.data)
                self.sharing[one, other] = same and self.sharing.get((one, other), True)

    def note(self, what: str, agent: Any, step: int, said: str, *, happened: bool) -> None:
        found = self.left.setdefault(what, [None, 0, 0])
        found[2] += 1
        if happened:
            found[0] = found[0] or (str(agent), step, said)
            found[1] += 1

    # ── what came out ───────────────────────────────────────────────────────────────────────────────────────────────

    def contract(self, name: str) -> AgentContract:
        return AgentContract(
            name=name,
            agents=tuple(map(str, self.possible)),
            steps=self.steps,
            episodes=self.episodes,
            where=place(type(getattr(self.env, "unwrapped", self.env))),
            absent=tuple(each for tally in self.absent.values() for each in tally.all()),
            unsaid=self.told("unsaid"),
            stayed=self.told("stayed"),
            revived=self.told("revived"),
            unknown=tuple(self.unknown),
            possible=(len(self.possible), self.fewest) if self.fewest < len(self.possible) else None,
            spaces=self.spaces.all(),
            one_array=next((pair for pair, same in self.sharing.items() if same), None),
        )

    def told(self, what: str) -> Left | None:
        first, times, of = self.left.get(what, (None, 0, 0))
        if first is None:
            return None
        agent, step, said = first
        return Left(agent, step, said, times, of)


def _true(flag: Any) -> bool:
    return bool(np.any(flag))


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:
        return False
