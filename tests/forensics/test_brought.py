"""Steps of other processes belong to the update that learns from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.programs.made import nodes

from rldebug.evidence.script import Audit, Event
from rldebug.forensics.brought import brought

STEPS = 40


def made(*batches: list[int]) -> Audit:
    """Steps one after the other, heard of at update 7, and learned from in these batches, one per update from 10 on."""
    of = nodes(np.random.default_rng(0).normal(size=(STEPS, 2)))
    of = replace(of, update=np.full(STEPS, 7), acted=np.ones(STEPS, dtype=bool))
    events = tuple(
        Event(number, "term", 10 + number, 0, {"kind": "policy"}, {"rows": of.id[np.array(rows)]})
        for number, rows in enumerate(batches)
    )
    return Audit(0, 0, 0, 0, of, events)


def stretches(audit: Audit, theirs: bool = True) -> list[int]:
    return brought(audit, frozenset({0} if theirs else ())).nodes.update.tolist()


def test_each_batch_is_a_stretch_and_what_was_not_learned_from_is_none():
    assert stretches(made(list(range(20)), list(range(20, 30)))) == [10] * 20 + [11] * 10 + [-1] * 10


def test_a_row_that_is_learned_from_again_stays_where_it_was():
    assert stretches(made(list(range(20)), list(range(20)), list(range(10, 40)))) == [10] * 20 + [12] * 20


def test_minibatches_of_one_rollout_are_together():
    order = np.random.default_rng(1).permutation(STEPS)
    assert stretches(made(order[:20].tolist(), order[20:].tolist())) == [10] * STEPS


def test_steps_of_the_program_itself_stay_as_they_are():
    assert stretches(made(list(range(20))), theirs=False) == [7] * STEPS
