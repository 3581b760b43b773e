"""Rows whose observations come back are told apart by their order."""

from dataclasses import replace

import numpy as np
import pytest

from rldebug.evidence.script import Audit, Event, Nodes
from rldebug.forensics.lined_up import lined_up

CELLS, TIMES, LANES = 5, 24, 3


def walked(seed: int = 0) -> tuple[Nodes, np.ndarray]:
    """Lanes that walk along a few cells; and the places of their steps, by time and lane."""
    draw = np.random.default_rng(seed)
    count = (TIMES + 1) * LANES
    place = np.arange(count).reshape(TIMES + 1, LANES)
    cell = draw.integers(0, CELLS, place.shape)
    action = draw.integers(0, 2, place.shape).astype(np.float64)
    acted = np.ones(place.shape, dtype=bool)
    acted[-1] = False
    after = np.full(place.shape, -1)
    after[:-1] = place[1:]
    zero, no = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool)
    nodes = Nodes(
        id=place.ravel(), stream=zero, lane=np.tile(np.arange(LANES), TIMES + 1),
        call=np.repeat(np.arange(TIMES + 1), LANES),
        phase=zero, update=zero, reward=np.where(acted.ravel(), draw.normal(size=count), np.nan), terminated=no,
        truncated=no, phantom=no, first=no, acted=acted.ravel(), action=action.reshape(-1, 1), nxt=after.ravel(),
        succ=after.ravel(), alike=np.ones(count, dtype=np.int64), obs=cell.reshape(-1, 1).astype(np.float32),
        obs_stats=np.repeat(cell.reshape(-1, 1).astype(np.float64), 5, axis=1),
    )  # fmt: skip
    return nodes, place[:-1]


def seen(nodes: Nodes, steps: np.ndarray, shape: list[int]) -> Audit:
    """A loss about these steps; its rows are found at the newest observation that looks the same."""
    cell = nodes.obs[:, 0]
    newest = {each: int(np.flatnonzero(cell == each)[-1]) for each in np.unique(cell)}
    rows = np.array([newest[cell[each]] for each in steps.ravel()])
    detail = {"kind": "policy", "op": "logp", "reached": ["net"], "shapes": {"weight": shape}}
    arrays = {"rows": rows, "index": nodes.action[steps.ravel(), 0].astype(np.int64)}
    loss = Event(0, "loss", 0, 0, {"how": "backward"})
    return Audit(0, 0, 0, 0, nodes, (loss, Event(1, "term", 0, 0, detail, arrays)))


def rows_of(audit: Audit) -> np.ndarray:
    return lined_up(audit).terms("policy")[0].arrays["rows"]


@pytest.mark.parametrize("turned", [False, True])
def test_steps_are_found_along_the_axis_of_time(turned):
    nodes, steps = walked()
    steps = steps.T if turned else steps
    audit = seen(nodes, steps, list(steps.shape))
    assert (rows_of(audit) == steps.ravel()).mean() > 0.95
    assert (lined_up(audit).nodes.alike[steps.ravel()] == 0).mean() > 0.95


def test_stretches_behind_one_another_are_found_without_a_shape():
    nodes, steps = walked()
    mixed = np.concatenate([steps[:12, 1], steps[4:, 0], steps[9:, 2]])
    assert (rows_of(seen(nodes, mixed, [len(mixed)])) == mixed).mean() > 0.9


def test_shuffled_rows_are_left_alone():
    nodes, steps = walked()
    mixed = np.random.default_rng(1).permutation(steps.ravel())
    audit = seen(nodes, mixed, [len(mixed)])
    assert lined_up(audit) is audit


def test_stretches_that_pay_differently_stay_ambiguous():
    nodes, steps = walked()
    # The second lane does what the first does, and is paid something else.
    obs, action = nodes.obs.copy(), nodes.action.copy()
    obs[1::LANES], action[1::LANES] = obs[::LANES], action[::LANES]
    alike = replace(nodes, obs=obs, action=action, obs_stats=np.repeat(obs.astype(np.float64), 5, axis=1))
    assert lined_up(seen(alike, steps[:, 0], [TIMES])).nodes.alike.all()
