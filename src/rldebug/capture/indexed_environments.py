"""Vector environments of Tianshou: a call names the lanes it is for, and what comes back is of those alone.

They never reset themselves: who collects resets the lanes that have ended. In a call for some lanes the others stand
still. What an environment says of itself is read where it lies in this process; a worker is never asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.capture.env_calls import GROUP, shared_by
from rldebug.capture.env_facts import attribute, facts_of
from rldebug.capture.env_identity import IdentityWatch
from rldebug.capture.env_results import host, row
from rldebug.capture.env_values import STILL, one
from rldebug.capture.env_watch import Known
from rldebug.capture.imports import when_imported
from rldebug.capture.switch import Switchboard

_DEEP = 64  # wrappers


class Tianshou(IdentityWatch):
    kind = "tianshou-vec"
    methods = {"reset": "reset", "step": "step", "seed": "seeded"}  # noqa: RUF012

    def innermost(self, env: Any) -> Any:
        return _layers(env)[-1]

    def lanes_of(self, env: Any) -> tuple[int, bool]:
        return int(attribute(self.innermost(env), "env_num") or 1), True

    def facts(self, env: Any) -> dict[str, Any]:
        return _facts(env)

    def asked_of(self, original: Any, env: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        known = self.known_as(env)
        seed, known.sent = kwargs.get("seed", known.sent), None
        which = args[0] if args else kwargs.get("env_id")
        if which is None:
            return seed, None
        mask = np.zeros(known.lanes, dtype=bool)
        mask[np.atleast_1d(which)] = True
        return seed, mask

    def saw_reset(self, env: Any, result: Any, seed: Any, mask: Any) -> None:
        known = self.known_as(env)
        lanes = np.arange(known.lanes) if mask is None else np.flatnonzero(mask)
        obs = self.spread(known, lanes, result[0])
        self.log.reset(known.inner(), obs, seed, known.lanes, None if mask is None or known.lanes == 1 else mask)

    def saw_step(self, env: Any, action: Any, result: Any) -> None:
        known = self.known_as(env)
        self.shared.renewed = False
        obs, reward, terminated, truncated, infos = result
        lanes = [int(each["env_id"]) for each in infos]
        if len(lanes) != len(np.ravel(reward)):  # one reward for each agent
            self.saw_nothing(known)
            return
        # Where some arrive while others are under way, the actions of this call are not those of what has arrived.
        known_actions = action is not None and len(action) == len(lanes) and not attribute(env, "is_async")
        actions = self.spread(known, lanes, action) if known_actions else None
        if known.lanes == 1:
            observed = self.spread(known, lanes, obs)
            flags = bool(terminated[0]), bool(truncated[0])
            self.log.step(known.inner(), actions, observed, float(np.ravel(reward)[0]), *flags, None)
            return
        rewards, ends, cuts = np.zeros(known.lanes), *(np.zeros(known.lanes, dtype=bool) for _ in range(2))
        rewards[lanes], ends[lanes], cuts[lanes] = np.ravel(reward), terminated, truncated
        still = [None] * known.lanes
        self.log.step(
            known.inner(), still if actions is None else actions, self.spread(known, lanes, obs), rewards, ends, cuts,
            None,
        )  # fmt: skip

    def spread(self, known: Known, lanes: Any, given: Any) -> Any:
        """Rows of some lanes, as one for each lane; STILL for the others."""
        given = host(given)
        if known.lanes == 1:
            return row(given, 0)
        if isinstance(given, np.ndarray) and len(given) == known.lanes and [*lanes] == [*range(known.lanes)]:
            return given
        found: list[Any] = [STILL] * known.lanes
        for place, lane in enumerate(lanes):
            found[lane] = one(row(given, place))
        return found


def _layers(env: Any) -> list[Any]:
    """Wrappers inwards to the environment that has the workers."""
    layers = [env]
    while len(layers) < _DEEP and (inner := vars(layers[-1]).get("venv")) is not None:
        layers.append(inner)
    return layers


def _facts(env: Any) -> dict[str, Any]:
    layers = _layers(env)
    wrappers = [type(each).__name__ for each in layers[:-1]]
    inside = [vars(each).get("env") for each in vars(layers[-1]).get("workers") or ()]
    if not inside or inside[0] is None:  # in processes of their own
        return {"id": type(layers[-1]).__name__, "wrappers": wrappers, "worlds": [id(layers[-1])]}
    facts = facts_of(inside[0])
    return facts | {
        "wrappers": [*wrappers, type(layers[-1]).__name__, *facts["wrappers"]],
        "instances": len({id(each) for each in inside}),
        "worlds": [id(getattr(each, "unwrapped", each)) for each in inside[:_DEEP]],
    }


def install(switch: Switchboard, log: Any) -> None:
    shared = shared_by(switch, log)
    when_imported(switch, GROUP, "tianshou.env.venvs", lambda module: Tianshou(shared).cover(module.BaseVectorEnv))
