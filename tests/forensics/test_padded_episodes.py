"""Whole episodes side by side: each row is its step, and filler is none."""

from functools import partial

import numpy as np
import pytest
from tests.programs.made import nodes
from tests.programs.padded import GAMMA, program
from tests.watched import watched

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.memory_replay import replays
from rldebug.forensics.padded_episodes import padded, padded_calls, padded_terms
from rldebug.forensics.targets import fit_targets, fit_weights


@pytest.fixture(scope="module")
def healthy() -> Script:
    return watched(program)[1]


def test_every_row_is_a_step_of_its_episode_or_filler(healthy):
    for audit in healthy.audits:
        for call in padded_calls(audit):
            nodes, grid = audit.nodes, call.rows.reshape(call.shape)
            assert len(np.unique(call.rows[~call.filler])) == (~call.filler).sum()
            for row in grid:
                places = nodes.index(row[row >= 0])
                assert nodes.first[places[0]]
                assert (nodes.terminated | nodes.truncated)[places[-1]]
                assert (np.diff(nodes.call[places]) == 1).all()
            assert call.last.sum() == len(grid)


def test_losses_have_the_steps_as_rows(healthy):
    audit = healthy.audits[1]
    assert {term["kind"] for _, term in padded_terms(audit)} == {"policy", "regression", "entropy"}
    mask = padded(audit).terms("policy")[0].arrays["mask"]
    assert ((padded(audit).terms("policy")[0].arrays["rows"] >= 0) == (mask.ravel() != 0)).all()


def test_targets_and_their_ends_are_told(healthy):
    (fit,) = fit_targets(healthy)
    assert fit.name == "monte-carlo"
    assert fit.gamma == pytest.approx(GAMMA, abs=1e-5)
    assert fit.rightly("terminated")
    assert fit.rightly("truncated")
    assert [each.of for each in fit_weights(healthy)] == ["advantage"]


def test_a_limit_that_ends_values_is_told():
    (fit,) = fit_targets(watched(partial(program, "limit ends values"))[1])
    assert fit.ending("truncated", "zero") is not None


def test_the_memory_is_the_same_in_acting_and_learning(healthy):
    (replay,) = replays(healthy)
    assert not replay.other
    assert replay.same["later"] > 100
    assert not replay.empty


def pieces(*, broken: bool = False) -> Audit:
    """Six pieces of one long episode, of four steps at most, time first; every other one is a step shorter."""
    given = np.arange(40, dtype=np.float32).reshape(20, 2) + 1.0
    of = nodes(given, phase=0)
    grid = np.array([[0, 1, 2, 3], [4, 5, 6, -1], [7, 8, 9, 10], [11, 12, 13, -1], [14, 15, 16, 17], [3, 4, 5, -1]])
    if broken:
        grid[0] = [0, 2, 1, 3]
    rows = grid.T.ravel()
    shown = np.where(rows[:, None] >= 0, given[rows], 0.0).astype(np.float32)
    detail = {"module": "net", "acting": False, "grad": True, "inputs": [{"shape": [4, 6, 2]}]}
    event = Event(0, "call", 0, 0, detail, {"rows": rows, "input": shown})
    return Audit(0, 0, 0, 0, of, (event,))


def test_pieces_of_episodes_are_told_from_their_filler():
    (call,) = padded_calls(pieces())
    assert call.shape == (4, 6)
    assert call.filler.sum() == 3
    assert call.filler[18:].tolist() == [False, True] * 3


def test_rows_out_of_order_are_no_pieces():
    assert not padded_calls(pieces(broken=True))
