"""A world of a few rooms, acted in and learned from by hand: every observation comes back many times in a rollout."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.forensics.simulated import Rollout

from rldebug.evidence.script import UNKNOWN, Audit, Event, Nodes, Script

ROOMS = 12
ACTIONS = 3
LANES, TIMES = 6, 40


def world(seed: int) -> tuple[Rollout, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The rollout, the room before each step and after the last, the room each step led to, the actions."""
    draw = np.random.default_rng(seed)
    value = draw.normal(size=ROOMS) * 2 + 1
    paid = draw.normal(size=(ROOMS, ACTIONS)).round(1)
    room = draw.integers(0, ROOMS, (TIMES + 1, LANES))
    action = draw.integers(0, ACTIONS, (TIMES, LANES))
    terminated = draw.random((TIMES, LANES)) < 0.06
    truncated = (draw.random((TIMES, LANES)) < 0.06) & ~terminated
    led = np.where(terminated | truncated, draw.integers(0, ROOMS, (TIMES, LANES)), room[1:])
    made = Rollout(paid[room[:-1], action], value[room], value[led], terminated, truncated)
    return made, room, led, action


def nodes(of: Rollout, room: NDArray[np.int64], led: NDArray[np.int64], action: NDArray[np.int64]) -> Nodes:
    """Those acted on have even ids, by time and lane; the final observation of an episode comes after the reset."""
    count = (TIMES + 1) * LANES
    ends = np.flatnonzero(of.done.ravel())
    total = count + len(ends)
    ids = np.concatenate([2 * np.arange(count), 2 * (ends + LANES) + 1])
    nxt = np.full(total, UNKNOWN)
    nxt[: TIMES * LANES] = ids[LANES:count]
    succ = nxt.copy()
    nxt[ends] = ids[count:]
    succ[count:] = succ[ends]
    acted = np.arange(total) < TIMES * LANES
    look = np.concatenate([room.ravel(), led.ravel()[ends]])

    def column(values: NDArray[Any], fill: Any) -> NDArray[Any]:
        found = np.full(total, fill, dtype=np.asarray(values).dtype)
        found[: TIMES * LANES] = np.ravel(values)
        return found

    first = np.zeros(total, dtype=bool)
    first[LANES:count] = of.done.ravel()
    stats = np.stack([look, look, look, 0 * look, look + 1], axis=1).astype(np.float64)
    lane = np.concatenate([np.tile(np.arange(LANES), TIMES + 1), ends % LANES])
    call = np.concatenate([np.repeat(np.arange(TIMES + 1), LANES), ends // LANES + 1])
    zeros = np.zeros(total, dtype=np.int64)
    made = Nodes(
        id=ids, stream=zeros, lane=lane, call=call, phase=zeros, update=np.where(acted, 0, 99),
        reward=column(of.reward, np.nan), terminated=column(of.terminated, False),
        truncated=column(of.truncated, False), phantom=zeros.astype(bool), first=first, acted=acted,
        action=column(action.astype(np.float64), np.nan)[:, None], nxt=nxt, succ=succ, alike=zeros + 1,
        obs=look[:, None].astype(np.float32), obs_stats=stats,
    )  # fmt: skip
    order = np.argsort(ids)
    return Nodes(**{each.name: getattr(made, each.name)[order] for each in fields(Nodes)})


def audit(number: int, make: Any, *, shuffled: bool = True, batches: int = 4, forgotten: bool = False) -> Audit:
    """Two rounds of minibatches over the rollout, each with a policy and a value term.

    forgotten: the advantages are not shuffled with their rows.
    """
    of, room, led, action = world(number)
    table = nodes(of, room, led, action)
    newest = {int(look): id for id, look in zip(table.id.tolist(), table.obs[:, 0].tolist(), strict=True)}
    even, odd = (np.sort(table.id[table.id % 2 == each]) for each in (0, 1))
    target = np.asarray(make(of), dtype=np.float32).ravel()
    value = np.asarray(of.value, dtype=np.float32)
    looks, acts = room[:-1].ravel(), action.ravel()
    acting = Event(
        0, "call", 0, 0, {"module": "critic", "acting": True, "grad": False, "match": "one-hot"},
        {"rows": even, "output0": value.reshape(-1, 1)},
    )  # fmt: skip
    finals = Event(
        1, "call", 0, 0, {"module": "critic", "acting": False, "grad": False, "match": "one-hot"},
        {"rows": odd, "output0": of.final[of.done].astype(np.float32)[:, None]},
    )  # fmt: skip
    events = [acting, finals]
    draw = np.random.default_rng(1000 + number)
    update = 0
    for _ in range(2):
        order = draw.permutation(TIMES * LANES) if shuffled else np.arange(TIMES * LANES)
        for part, rows in enumerate(np.array_split(order, batches)):
            ids = np.array([newest[int(each)] for each in looks[rows]], dtype=np.int64)
            slices = np.array_split(np.arange(len(order)), batches)
            advantage = (target - value[:-1].ravel())[slices[part] if forgotten else rows]
            events.append(Event(len(events), "loss", update, 0, {"value": 0.0, "how": "backward", "terms": 2}))
            for kind, op, arrays in (
                ("policy", "exp-ratio", {"weight": advantage, "index": acts[rows], "ratio": np.ones(len(rows))}),
                ("regression", "mse", {"target": target[rows], "prediction": value[:-1].ravel()[rows] + update}),
            ):
                detail = {"kind": kind, "op": op, "coefficient": -1.0 if kind == "policy" else 1.0,
                          "reached": [kind], "rows": len(rows), "match": "one-hot"}  # fmt: skip
                events.append(Event(len(events), "term", update, 0, detail, {**arrays, "rows": ids}))
            update += 1
    return Audit(number, 0, 0, 0, table, tuple(events))


def script(make: Any, count: int = 2, **options: Any) -> Script:
    return Script(audits=tuple(audit(number, make, **options) for number in range(count)))
