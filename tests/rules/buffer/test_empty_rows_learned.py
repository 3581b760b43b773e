from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from rldebug.evidence.script import Event, Script
from rldebug.rules.buffer.empty_rows_learned import EmptyRowsLearned
from tests.programs.data import found, seen
from tests.programs.made import call, nodes, script
from tests.watched import watched


def test_fires_on_rows_that_were_never_written() -> None:
    (finding,) = found(EmptyRowsLearned(), seen(watched, "dqn", "empty rows"))
    assert finding.seen.startswith("16 of 32 rows")


@pytest.mark.parametrize("program", ["dqn", "ddpg"])
def test_quiet_where_all_rows_were_stored(program: str) -> None:
    assert not found(EmptyRowsLearned(), seen(watched, program))


def made(given: np.ndarray, *, known: bool, start: float = 1.0, audits_made: int = 3) -> Script:
    """A critic of states and actions learns from a batch; `start`: what the observations of resets are made of."""
    audits = []
    for number in range(audits_made):
        obs = np.random.default_rng(number).normal(size=(40, 4))
        obs[::8] *= start
        rows = np.arange(40) if known else np.full(40, -1)
        detail = {"kind": "regression", "reached": ["net"], "match": "slice"}
        events = [
            call(0, np.arange(1, 8), obs[1:8], acting=True),
            call(1, np.where(given.any(axis=1), rows, -1), given, grad=True, match="slice" if known else "none"),
            Event(2, "term", number, 0, detail, {"rows": np.arange(40)}),
        ]
        audits.append((nodes(obs), [dataclasses.replace(each, update=number) for each in events]))
    return script(audits)


RNG = np.random.default_rng(0)
BATCH = RNG.normal(size=(40, 6))
EMPTY = np.where(np.arange(40)[:, None] % 4 == 0, 0.0, BATCH)


def test_fires_on_a_critic_that_is_given_rows_of_zeros() -> None:
    (finding,) = EmptyRowsLearned().check(made(EMPTY, known=True))
    assert finding.seen.startswith("10 of 40 rows")


ONE = np.where(np.arange(40)[:, None] == 7, 0.0, BATCH)


def test_fires_on_one_empty_row_in_every_batch() -> None:
    """Drawn by priority: one mark of each batch ends in a leaf that was never written."""
    (finding,) = EmptyRowsLearned().check(made(ONE, known=True, audits_made=12))
    assert finding.seen.startswith("1 of 40 rows")


def test_quiet_on_one_empty_row_in_a_few_batches() -> None:
    assert not list(EmptyRowsLearned().check(made(ONE, known=True, audits_made=5)))


def test_quiet_where_the_rows_are_features_that_begin_with_zeros() -> None:
    """A head behind a ReLU: many of its inputs are zero, and none is an observation."""
    features = np.concatenate([np.zeros((40, 4)), RNG.normal(size=(40, 20))], axis=1)
    assert not list(EmptyRowsLearned().check(made(features, known=False)))


def test_quiet_where_the_environment_hands_out_zeros() -> None:
    assert not list(EmptyRowsLearned().check(made(EMPTY, known=True, start=0.0)))
