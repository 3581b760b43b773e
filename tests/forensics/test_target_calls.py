"""Rows of a loss that is of other rows than its network was given."""

import numpy as np

from rldebug.evidence.script import Audit, Event
from rldebug.forensics.rescaled_rewards import used_rewards
from rldebug.forensics.target_calls import traced, with_rows

ROWS = 30
DRAW = np.random.default_rng(0)
ANSWERS = DRAW.normal(size=(ROWS, 1)).astype(np.float32)


def audit(*events):
    return Audit(0, 0, 0, 0, None, events)


def call(order=0, rows=ROWS, **arrays):
    detail = {"module": "critic", "grad": True, "acting": False}
    return Event(order, "call", 0, 0, detail, {"rows": 100 + np.arange(rows), **arrays})


def term(prediction, rows, kind="regression", **arrays):
    return Event(9, "term", 0, 0, {"kind": kind}, {"prediction": prediction, "rows": np.array(rows), **arrays})


def test_a_batch_that_was_masked():
    kept = np.flatnonzero(np.arange(ROWS) % 3)
    loss = term(ANSWERS[kept, 0], [1, 2, 3])
    found = traced(audit(call(output0=ANSWERS)), loss, [])
    assert found.arrays["rows"].tolist() == (100 + kept).tolist()


def test_the_terms_of_a_loss_are_of_the_same_rows():
    kept = np.arange(5, 20)
    critic = term(ANSWERS[kept, 0], [1, 2, 3])
    policy = Event(8, "term", 0, 0, {"kind": "policy"}, {"weight": np.ones(15), "rows": np.array([1, 2, 3])})
    found = traced(audit(call(output0=ANSWERS)), policy, [policy, critic])
    assert found.arrays["rows"].tolist() == (100 + kept).tolist()


def test_rows_that_are_known_stay():
    loss = term(ANSWERS[:, 0], np.arange(ROWS))
    assert traced(audit(call(output0=ANSWERS)), loss, []) is loss


def test_answers_that_come_twice_are_of_neither_row():
    answers = ANSWERS.copy()
    answers[1] = answers[0]
    found = traced(audit(call(output0=answers)), term(answers[:20, 0], [1]), [])
    assert found.arrays["rows"][:3].tolist() == [-1, -1, 102]


def test_other_predictions_are_not_traced():
    loss = term(ANSWERS[:20, 0] + 1.0, [1, 2, 3])
    assert traced(audit(call(output0=ANSWERS)), loss, []) is loss


def test_the_second_of_two_critics_that_were_given_what_nobody_was_handed():
    loss = term(ANSWERS[:, 0], np.full(ROWS, -1))
    found = with_rows(audit(call(output0=ANSWERS * 2, output1=ANSWERS)), loss)
    assert found.arrays["rows"].tolist() == (100 + np.arange(ROWS)).tolist()


def rescaled(used):
    return audit(Event(1, "rescaled", 0, 0, {}, {"given": used, "used": used}))


def test_rewards_are_those_that_were_used():
    handed = DRAW.normal(size=ROWS)
    known = np.ones(ROWS, dtype=bool)
    loss = term(ANSWERS[:, 0], np.arange(ROWS))
    used = 0.5 * handed * DRAW.uniform(0.9, 1.1, ROWS)
    np.testing.assert_array_equal(used_rewards(rescaled(used), loss, handed, known), used)
    np.testing.assert_array_equal(used_rewards(audit(), loss, handed, known), handed)


def test_rewards_of_other_steps_stay_wrong():
    handed = DRAW.normal(size=ROWS)
    loss = term(ANSWERS[:, 0], np.arange(ROWS))
    for stored in (-handed, np.roll(handed, 1)):
        found = used_rewards(rescaled(stored), loss, handed, np.ones(ROWS, dtype=bool))
        np.testing.assert_array_equal(found, handed)


def test_sequences_of_which_all_but_the_last_step_are_learned_from():
    values = DRAW.normal(size=(4, 7, 2)).astype(np.float32)
    taken = DRAW.integers(0, 2, size=(4, 6))
    said = np.take_along_axis(values[:, :-1], taken[..., None], 2)[..., 0]
    asked = call(rows=28, output0=values.reshape(28, 2))
    asked = Event(0, "call", 0, 0, {**asked.detail, "outputs": [{"shape": [4, 7, 2]}]}, asked.arrays)
    loss = term(said.ravel(), np.arange(28), index=taken.ravel())
    found = with_rows(audit(asked), loss)
    assert found.arrays["rows"].tolist() == (100 + np.arange(28).reshape(4, 7)[:, :-1].ravel()).tolist()
    late = np.take_along_axis(values[:, 2:-1], taken[:, 2:, None], 2)[..., 0]  # the first two warm the memory up
    found = with_rows(audit(asked), term(late.ravel(), np.arange(28), index=taken[:, 2:].ravel()))
    assert found.arrays["rows"].tolist() == (100 + np.arange(28).reshape(4, 7)[:, 2:-1].ravel()).tolist()
