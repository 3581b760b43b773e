"""Evidence with targets by any formula: rollouts and replays made of numbers, as an audit would hold them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Nodes, Script
from rldebug.finding import Finding
from rldebug.rule import Rule
from tests.forensics.simulated import Rollout, gae, rollout

Array = NDArray[np.float64]
LINE = ["train.py", 7]


def found(rule: Rule, script: Script) -> list[Finding]:
    return list(rule.check(script))


def nodes_of(of: Rollout, base: int) -> tuple[Nodes, NDArray[np.int64], NDArray[np.int64], Array]:
    """Nodes, the ids of the steps (time, lane), of the observations after the last step, and the value of each node."""
    times, lanes = of.reward.shape
    steps = np.arange((times + 1) * lanes).reshape(times + 1, lanes)
    ended = np.argwhere(of.done)
    count = steps.size + len(ended)
    final = {(int(t), int(lane)): steps.size + number for number, (t, lane) in enumerate(ended)}
    value = np.zeros(count)
    value[steps] = of.value
    column: dict[str, Any] = {name: np.full(count, -1, dtype=np.int64) for name in ("nxt", "succ")}
    for name in ("terminated", "truncated", "phantom", "first", "acted"):
        column[name] = np.zeros(count, dtype=bool)
    column["reward"] = np.full(count, np.nan)
    column["lane"] = np.zeros(count, dtype=np.int64)
    column["call"] = np.zeros(count, dtype=np.int64)
    for t in range(times):
        for lane in range(lanes):
            at = steps[t, lane]
            column["succ"][at] = steps[t + 1, lane]
            column["nxt"][at] = final.get((t, lane), steps[t + 1, lane])
            if (t, lane) in final:
                value[final[t, lane]] = of.final[t, lane]
                column["succ"][final[t, lane]] = steps[t + 1, lane]
                column["first"][steps[t + 1, lane]] = True
            column["reward"][at] = of.reward[t, lane]
            column["terminated"][at], column["truncated"][at] = of.terminated[t, lane], of.truncated[t, lane]
            column["acted"][at] = True
    column["lane"][steps] = np.arange(lanes)
    column["call"][steps] = np.arange(times + 1)[:, None]
    column["action"] = np.random.default_rng(count).integers(0, 3, (count, 1)).astype(np.float64)
    zeros = np.zeros(count, dtype=np.int64)
    apart = np.arange(count, dtype=np.float64)[:, None]  # no two observations are equal
    nodes = Nodes(
        id=np.arange(count), stream=zeros, phase=zeros, update=np.full(count, base), alike=zeros,
        obs=apart.astype(np.float32), obs_stats=np.tile(apart, (1, 4)), **column,
    )  # fmt: skip
    return nodes, steps[:-1], steps[-1], value


def on_policy(
    target: Callable[[Rollout], Array] | None = gae,
    weight: Callable[[Rollout], Array] | None = None,
    *,
    coefficient: float = -1.0,
    audits: int = 3,
    **options: Any,
) -> Script:
    """A learner that acts, and then learns from all of it at once: a critic's loss, a policy's loss, or both."""
    made = []
    for number in range(audits):
        of = rollout(number, **options)
        base = 10 * number
        nodes, steps, _, value = nodes_of(of, base)
        rows = steps.ravel()
        everything = nodes.id
        events = [
            Event(0, "call", base, 0, {"module": "critic", "acting": True, "grad": False}, {
                "rows": everything, "output0": value[:, None].astype(np.float32),
            }),
            Event(1, "loss", base, 99, {"line": LINE}),
        ]  # fmt: skip
        if target is not None:
            arrays = {
                "rows": rows,
                "prediction": value[rows].astype(np.float32),
                "target": target(of).ravel().astype(np.float32),
            }
            events.append(term(len(events), base, "regression", 0.5, ["critic"], arrays))
        if weight is not None:
            arrays = {"rows": rows, "weight": weight(of).ravel().astype(np.float32)}
            events.append(term(len(events), base, "policy", coefficient, ["policy"], arrays))
        made.append(Audit(number, number, base, 0, nodes, tuple(events)))
    return Script(made)


def term(
    order: int, update: int, kind: str, coefficient: float, reached: Sequence[str], arrays: dict[str, Any]
) -> Event:
    op = "mse" if kind == "regression" else "logp"
    detail = {"kind": kind, "coefficient": coefficient, "op": op, "reached": list(reached), "line": LINE}
    return Event(order, "term", update, 99, detail, arrays)


def replay(
    make: Callable[[Rollout, NDArray[np.int64], dict[str, Array]], Array],
    *,
    critics: int = 1,
    actions: int = 3,
    next_rows: Callable[[Nodes, NDArray[np.int64]], NDArray[np.int64]] | None = None,
    audits: int = 4,
    reward: Callable[[Array], Array] | None = None,
) -> Script:
    """A learner from a replay. `make`: targets from the rollout, places in it, and what critics said of the next."""
    made = []
    for number in range(audits):
        of = rollout(number, times=200, lanes=1)
        if reward is not None:
            of.reward = reward(of.reward)
        nodes, steps, _, _ = nodes_of(of, 0)
        draw = np.random.default_rng(100 + number)
        picked = draw.permutation(200)[:96]
        rows = steps.ravel()[picked]
        following = nodes.nxt[nodes.index(rows)] if next_rows is None else next_rows(nodes, rows)
        events, said = [], {}
        for critic in range(critics):
            table = draw.normal(size=(len(nodes), actions)) * 2 + 3
            said[f"q{critic}"] = table[following]
            detail = {"module": f"q{critic}", "acting": False, "grad": False}
            events.append(Event(critic, "call", number, 9, detail, {"rows": following, "output0": table[following]}))
        logp = draw.normal(size=len(rows)) - 2
        said["logp"] = logp
        events.append(Event(len(events), "logp", number, 9, {"dist": "Normal"}, {"result": logp}))
        events.append(Event(len(events), "loss", number, 9, {"line": LINE}))
        arrays = {"rows": rows, "target": make(of, picked, said), "prediction": np.zeros(len(rows))}
        if actions > 1:
            arrays["index"] = nodes.action[rows, 0].astype(np.int64)
        events.append(term(len(events), number, "regression", 1.0, ["q"], arrays))
        made.append(Audit(number, number, number, 0, nodes, tuple(events)))
    return Script(made)


def q_target(of: Rollout, picked: NDArray[np.int64], said: dict[str, Array], gamma: float = 0.97) -> Array:
    return np.asarray(of.reward[picked, 0] + gamma * (1.0 - of.terminated[picked, 0]) * said["q0"].max(axis=1))
