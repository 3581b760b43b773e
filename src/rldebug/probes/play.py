"""Plays an environment with agents whose behaviour is known, and writes down what they met."""

from __future__ import annotations

import contextlib
import io
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from rldebug.evidence.baseline import interval
from rldebug.evidence.env_play import Effects, EnvPlay, Play, Twins
from rldebug.parts.generators import generators_kept
from rldebug.parts.make import said
from rldebug.probes import play_facts as facts
from rldebug.probes import play_forks as forks
from rldebug.probes.agents import Agent, Learner
from rldebug.probes.agents.automaton import Cyclic, Sticky
from rldebug.probes.agents.cheat import cheat
from rldebug.probes.agents.constant import constants
from rldebug.probes.agents.random import Random
from rldebug.probes.agents.tabular import Tabular, bins, can_learn
from rldebug.probes.flat import Flat, Row, can_vary
from rldebug.probes.play_facts import Tape

_KEPT = 4000  # steps kept of the random player; of others, and of images, fewer
_KEPT_OF_OTHERS = 1000
_LONG = 10_000  # steps without an end, after which a player gives up
_FEW = 10  # episodes of players that do not draw
# Shares of the time: the learner comes last and has what is left.
_RANDOM, _TWINS, _EFFECTS, _OTHERS = 0.25, 0.15, 0.2, 0.25


def play(
    make: Callable[[], gym.Env[Any, Any]],
    *,
    name: str,
    agents: Sequence[Agent] = (),
    episodes: int = 50,
    steps: int = 12_000,
    seconds: float = 15.0,
    seed: int = 0,
) -> EnvPlay:
    """Random, constant, cyclic, sticky, the cheat and a tabular learner; `agents` play besides.

    Each player has at most `episodes` and `steps`, all together about `seconds`. What a broken environment raises is
    written down, never raised. The global generators are as they were afterwards, and what was made is closed.
    """
    started = time.perf_counter()
    with generators_kept(seed), _quietly(), contextlib.ExitStack() as opened:
        try:
            env = _opened(make, opened)
            table = _Table(env, episodes, steps, seed)
            space = env.action_space
            table.seat(Random(space, seed), seconds=_RANDOM * seconds)
        except (Exception, SystemExit) as error:
            return EnvPlay(name, left_out=(f"nobody could play: {said(error)}",))
        twins, effects, untouched = Twins(), Effects(), None
        if not table.plays[0].problem:
            try:
                other = _opened(make, opened)
                twins, untouched = forks.twins(
                    other, table.flat, seconds=_TWINS * seconds, step_seconds=table.step_seconds, seed=seed + 1000
                )
                if twins.repeatable:
                    effects = forks.effects(other, table.flat, seconds=_EFFECTS * seconds, seed=seed + 50_000)
            except (Exception, SystemExit) as error:
                table.left_out.append(f"the same seed with other actions: {said(error)}")
            knows = cheat(env)
            more: list[Agent] = [*agents, *([knows] if knows is not None else [])]
            more += [*constants(space, seed=seed), Cyclic(space, seed), Sticky(space, seed)]
            for number, agent in enumerate(more):
                left = started + (_RANDOM + _TWINS + _EFFECTS + _OTHERS) * seconds - time.perf_counter()
                table.seat(agent, seconds=max(left / (len(more) - number), 0.02 * seconds))
            table.learn(seconds=max(started + seconds - time.perf_counter(), 0.1 * seconds))
        return table.figures(name, twins, effects, untouched, time.perf_counter() - started)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """What an environment prints or warns of would stand in the middle of the report."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def _opened(make: Callable[[], gym.Env[Any, Any]], opened: contextlib.ExitStack) -> gym.Env[Any, Any]:
    env = make()

    def close() -> None:
        with contextlib.suppress(Exception):
            env.close()

    opened.callback(close)
    return env


class _Table:
    """One environment, the players that sat down at it, and what they left there."""

    def __init__(self, env: gym.Env[Any, Any], episodes: int, steps: int, seed: int) -> None:
        self.env = env
        self.episodes = episodes
        self.steps = steps
        self.seed = seed
        self.flat = Flat(env.observation_space)
        self.plays: list[Play] = []
        self.tapes: list[Tape] = []
        self.rewards: list[float] = []
        self.final: list[bool] = []
        self.times: list[float] = []
        self.left_out: list[str] = []

    @property
    def step_seconds(self) -> float:
        return float(np.median(self.times)) if self.times else 1e-3

    def seat(self, agent: Agent, *, seconds: float) -> None:
        """Let it play: more where chance decides, longer as long as nobody has come to an end."""
        draws = agent.kind in ("random", "written", "cheat")
        nobody = not any(each.episodes for each in self.plays)
        most = self.steps if draws or nobody else min(self.steps, 3000)
        self._play(agent, self.episodes if draws else _FEW, most, seconds)

    def learn(self, *, seconds: float) -> None:
        """Learning first, then what it has learned, greedily: only that is kept as a play."""
        seen = np.array(self.tapes[0].before)
        why = can_learn(self.env.action_space)
        edges = None if why else bins(seen)
        if edges is None:
            self.left_out.append(
                f"tabular: {why or f'{self.flat.size} elements of observation'} are too many for a table"
            )
            return
        steps = self.steps
        if len(self.times) and seconds / self.step_seconds < 2 * steps:
            steps = int(0.5 * seconds / self.step_seconds)
        if steps < 1000:
            self.left_out.append(f"tabular: the environment is too slow, {steps} steps in the time there was")
            return
        space = self.env.observation_space
        agent = Tabular(space, self.env.action_space, edges=edges, steps=steps, seed=self.seed)
        self._play(agent, 10**9, steps, 0.7 * seconds)
        learning = self.plays.pop()
        if not learning.problem:
            agent.greedy = True
            self._play(agent, self.episodes, max(3000, steps // 4), 0.3 * seconds)
            if not self.plays[-1].episodes:
                self.left_out.append("tabular: no episode ended when it played what it had learned")

    def _play(self, agent: Agent, episodes: int, steps: int, seconds: float) -> None:
        tape = Tape()
        kept = _KEPT if not self.tapes else _KEPT_OF_OTHERS
        kept = kept if self.flat.kept is None else kept // 5
        until = time.perf_counter() + seconds
        returns: list[float] = []
        lengths: list[int] = []
        ends = [0, 0]
        taken = longest = 0
        problem = ""
        try:
            while len(returns) < episodes and taken < steps and time.perf_counter() < until:
                total, length, terminated, truncated = self._episode(
                    agent, tape, len(returns), kept, min(steps - taken, _LONG), until, taken == 0
                )
                taken, longest = taken + length, max(longest, length)
                if not (terminated or truncated):
                    break
                returns.append(total)
                lengths.append(length)
                ends[0 if terminated else 1] += 1
        except (Exception, SystemExit) as error:
            problem = said(error)
        low, high = interval(np.array(returns), self.seed) if len(returns) > 1 else (math.nan, math.nan)
        self.tapes.append(tape)
        self.plays.append(
            Play(
                agent=agent.name,
                kind=agent.kind,
                returns=tuple(returns),
                lengths=tuple(lengths),
                terminated=ends[0],
                truncated=ends[1],
                steps=taken,
                longest=longest,
                interval=(low, high),
                problem=problem,
            )
        )

    def _episode(
        self, agent: Agent, tape: Tape, episode: int, kept: int, most: int, until: float, first: bool
    ) -> tuple[float, int, bool, bool]:
        """Return, length, and how it ended; neither where it was broken off."""
        # Each player begins with a seed of its own; further resets go on from there, as in training.
        obs, info = self.env.reset(seed=self.seed + 100 * len(self.plays) if first else None)
        row, mark = self._look(obs)
        total = 0.0
        tell = agent.observe if isinstance(agent, Learner) else None
        for t in range(most):
            action = agent.act(obs, info, t)
            clock = time.perf_counter()
            after, reward, terminated, truncated, info = self.env.step(action)
            now = time.perf_counter()
            value = float(np.asarray(reward, dtype=float).item())
            total += value
            ended = bool(terminated or truncated)
            if len(self.times) < 2000:
                self.times.append(now - clock)
            if len(self.rewards) < 200_000:
                self.rewards.append(value)
                self.final.append(ended)
            if tell is not None:
                tell(obs, action, value, after, bool(terminated))
            if len(tape.rewards) < kept:
                row_after, mark_after = self._look(after)
                _write(tape, row, row_after, action, value, t, episode, bool(terminated), mark != mark_after)
                row, mark = row_after, mark_after
            obs = after
            if ended or now > until:
                return total, t + 1, bool(terminated), bool(truncated)
        return total, most, False, False

    def _look(self, obs: Any) -> tuple[Row, bytes]:
        row = self.flat.row(obs)
        return row, row.tobytes() if self.flat.kept is None else self.flat.digest(obs)

    def figures(self, name: str, twins: Twins, effects: Effects, untouched: Row | None, seconds: float) -> EnvPlay:
        drawn = self.tapes[:1]
        rows = facts.rows_of(self.tapes)
        discrete = isinstance(self.env.action_space, gym.spaces.Discrete)
        spec = getattr(self.env, "spec", None)
        changed = [each for tape in self.tapes for each in tape.changed]
        return EnvPlay(
            name=name,
            plays=tuple(self.plays),
            rewards=facts.rewards_of(np.array(self.rewards), np.array(self.final, bool)),
            elements=facts.elements_of(rows, self.flat) if len(rows) else (),
            twins=twins,
            effects=effects,
            foretold=facts.foretold(drawn, self.flat, untouched, discrete),
            observation_space=" ".join(str(self.env.observation_space).split()),
            action_space=" ".join(str(self.env.action_space).split()),
            actions=_count(self.env.action_space),
            obs_can_vary=can_vary(self.env.observation_space),
            obs_compared=len(changed),
            obs_changed=sum(changed),
            time_told=facts.time_told(drawn),
            reward_told=facts.reward_told(drawn),
            unseen=facts.unseen_of(self.tapes, self.flat),
            alike=facts.alike_of(self.plays, self.seed),
            time_limit=_time_limit(self.env),
            reward_threshold=getattr(spec, "reward_threshold", None),
            step_seconds=self.step_seconds if self.times else math.nan,
            left_out=(*self.left_out, *(f"{each.agent}: {each.problem}" for each in self.plays if each.problem)),
            seconds=seconds,
        )


def _write(
    tape: Tape,
    before: Row,
    after: Row,
    action: Any,
    reward: float,
    t: int,
    episode: int,
    terminated: bool,
    changed: bool,
) -> None:
    tape.before.append(before)
    tape.after.append(after)
    tape.actions.append(_numbers(action))
    tape.rewards.append(reward)
    tape.time.append(t)
    tape.episode.append(episode)
    tape.terminated.append(terminated)
    tape.changed.append(changed)


def _numbers(action: Any) -> Row:
    if isinstance(action, dict):
        return np.concatenate([_numbers(each) for each in action.values()])
    if isinstance(action, tuple):
        return np.concatenate([_numbers(each) for each in action])
    return np.asarray(action, dtype=float).ravel()


def _count(space: gym.Space[Any]) -> float:
    if isinstance(space, gym.spaces.Discrete):
        return float(space.n)
    if isinstance(space, gym.spaces.MultiDiscrete):
        return float(np.prod(space.nvec, dtype=float))
    if isinstance(space, gym.spaces.MultiBinary):
        return 2.0 ** int(np.prod(space.shape))
    if isinstance(space, gym.spaces.Box):
        return math.inf if bool(np.any(space.low < space.high)) else 1.0
    parts = list(space.values()) if isinstance(space, gym.spaces.Dict) else list(getattr(space, "spaces", ()))
    return math.prod(_count(each) for each in parts) if parts else math.nan


def _time_limit(env: Any) -> int | None:
    """Of the wrapper nearest to us; the registered one where there is none."""
    layer = env
    while isinstance(layer, gym.Wrapper):
        if isinstance(layer, gym.wrappers.TimeLimit):
            return int(layer._max_episode_steps)
        layer = layer.env
    limit = getattr(getattr(env, "spec", None), "max_episode_steps", None)
    return int(limit) if isinstance(limit, int) and limit > 0 else None
