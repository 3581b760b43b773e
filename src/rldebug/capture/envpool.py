"""EnvPool: many environments behind one object, written in C++. A step after an end only restarts, and pays nothing.

Where all are stepped at once, each is a lane of one stream. Where `send` and `recv` hand over some at a time, in any
order, each is a stream of its own: told apart by `env_id`, and stepped where an action was sent to it before.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np

from rldebug.capture.env_calls import GROUP, Shared, shared_by
from rldebug.capture.env_facts import action_facts, observation_facts
from rldebug.capture.env_results import batch, row
from rldebug.capture.env_watch import Known, Watch
from rldebug.capture.imports import when_imported
from rldebug.capture.switch import Switchboard

_LAST = 2  # dm_env.StepType.LAST


class One:
    """An environment of the pool that is stepped by itself."""


class EnvPool(Watch):
    kind = "envpool"
    methods = {"reset": "reset", "step": "step", "send": "send", "recv": "wait", "async_reset": "forget"}  # noqa: RUF012

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.apart: dict[int, tuple[Any, dict[int, One], dict[int, Any]]] = {}

    def lanes_of(self, env: Any) -> tuple[int, bool]:
        return int(env.config["num_envs"]), True

    def autoreset(self, env: Any) -> str:
        return "next-step"

    def announce(self, env: Any, known: Known) -> None:
        if not env.is_async:
            super().announce(env, known)
            known.facts.update(facts_of(env))

    # ── one call for all ────────────────────────────────────────────────────────────────────────────────────────────

    def quick_results(self, known: Known, action: Any, result: Any) -> tuple[Any, ...] | None:
        return None

    def saw_reset(self, env: Any, result: Any, seed: Any, mask: Any) -> None:
        known = self.known_as(env)
        rows = rows_of(result)
        if rows is None or env.is_async:
            self.saw_some(env, known, result)
            return
        obs, *_, ids = rows
        if len(ids) == known.lanes:
            self.log.reset(known.inner(), batch(obs, known.lanes), None, known.lanes, None)
            return
        among = np.isin(np.arange(known.lanes), ids)
        by_id = {int(each): row(obs, place) for place, each in enumerate(ids)}
        self.log.reset(known.inner(), [by_id.get(each) for each in range(known.lanes)], None, known.lanes, among)

    def saw_batch(self, known: Known, env: Any, action: Any, result: Any) -> None:
        rows = rows_of(result)
        if env.is_async:
            self.saw_some(env, known, result)
        elif rows is None or len(rows[-1]) != known.lanes:
            self.saw_nothing(known)
        else:
            obs, reward, ended, cut, _ = rows
            lanes = known.lanes
            action, obs = batch(action, lanes), batch(obs, lanes)
            if lanes == 1:
                reward, ended, cut = float(reward[0]), bool(ended[0]), bool(cut[0])
            self.log.step(known.inner(), action, obs, reward, ended, cut, None)

    # ── some at a time ──────────────────────────────────────────────────────────────────────────────────────────────

    def step(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        self.switch.guard(GROUP, self.note_sent, env, args, kwargs)
        return super().step(original, env, args, kwargs)

    def send(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        self.switch.guard(GROUP, self.note_sent, env, args, kwargs)
        return super().send(original, env, args, kwargs)

    def forget(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        """async_reset: what comes next was not stepped."""
        self.switch.guard(GROUP, self.note_reset, env)
        return self.call(original, env, args, kwargs)

    def note_reset(self, env: Any) -> None:
        known = self.known_as(env)
        known.sent = RESET
        self.parts(env)[1].clear()

    def note_sent(self, env: Any, args: Any, kwargs: Any) -> None:
        if not env.is_async:
            return
        action = self.action_of(args, {key: each for key, each in kwargs.items() if key != "env_id"})
        ids = kwargs.get("env_id", args[1] if len(args) > 1 else None)
        ids = np.ravel(env.all_env_ids if ids is None else ids)
        sent = self.parts(env)[1]
        for place, each in enumerate(ids.tolist()):
            sent[each] = row(action, place)

    def saw_wait(self, env: Any, result: Any) -> None:
        known = self.known_as(env)
        if not env.is_async and known.sent is RESET:
            known.sent = None
            self.saw_reset(env, result, None, None)
        else:
            super().saw_wait(env, result)

    def saw_some(self, env: Any, known: Known, result: Any) -> None:
        rows = rows_of(result)
        if rows is None:
            return
        obs, reward, ended, cut, ids = rows
        envs, sent = self.parts(env)
        for place, each in enumerate(ids.tolist()):
            one = envs.get(each)
            if one is None:
                one = envs[each] = One()
                self.log.new(one, self.kind, 1, self.autoreset(env), {**facts_of(env), "worlds": [id(one)]})
            if each in sent:
                told = float(reward[place]), bool(ended[place]), bool(cut[place])
                self.log.step(one, sent.pop(each), row(obs, place), *told, None)
            else:
                self.log.reset(one, row(obs, place), None, 1)

    def parts(self, env: Any) -> tuple[dict[int, One], dict[int, Any]]:
        found = self.apart.get(id(env))
        if found is None or found[0]() is not env:
            found = self.apart[id(env)] = (ref(env), {}, {})
        return found[1], found[2]


RESET = object()


def rows_of(result: Any) -> tuple[Any, Any, Any, Any, Any] | None:
    """Observations, rewards, two flags, and of which environments they are; None where there are several players."""
    if hasattr(result, "step_type"):
        told = result.observation
        obs, ids, players = getattr(told, "obs", None), told.env_id, told.players.env_id
        last, over = np.ravel(result.step_type) == _LAST, np.ravel(result.discount) == 0.0
        reward, ended, cut = np.ravel(result.reward), last & over, last & ~over
    elif isinstance(result, tuple) and len(result) in (2, 5):
        obs, info = result[0], result[-1]
        ids, players = info["env_id"], info["players"]["env_id"]
        nothing = np.zeros(len(ids))
        reward, ended, cut = result[1:4] if len(result) == 5 else (nothing, nothing > 0, nothing > 0)
    else:
        return None
    if obs is None or len(players) != len(ids):
        return None
    return obs, np.asarray(reward, np.float64), np.asarray(ended, bool), np.asarray(cut, bool), np.ravel(ids)


def facts_of(env: Any) -> dict[str, Any]:
    """Its spaces are made when somebody asks: from the specification, so that the program's own are not made for it."""
    name = type(env).__name__.removesuffix("EnvPool").removesuffix("Gymnasium").removesuffix("DM")
    config = env.config
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a Box that rounds its bounds; the program gets its own
        spaces = env.spec.gymnasium_observation_space, env.spec.gymnasium_action_space
    limit = config.get("max_episode_steps")
    one_flag = {"api": "3-tuple"} if callable(getattr(env, "observation_spec", None)) else {}  # discount 0 at any end
    return {
        "id": name,
        "class": type(env).__name__,
        **observation_facts(spaces[0]),
        **action_facts(spaces[1]),
        "time_limit": int(limit) if isinstance(limit, int) and 0 < limit < 2**31 - 1 else None,
        **one_flag,
    }


def install(switch: Switchboard, log: Any) -> None:
    shared = shared_by(switch, log)
    when_imported(switch, GROUP, "envpool.python.envpool", lambda module: EnvPool(shared).cover(module.EnvPoolMixin))
