"""What the losses of a round have for each token is what the program gave them, in the order of writing."""

import numpy as np
from tests.programs.written import seen

from rldebug.forensics.token_learned import learned
from rldebug.forensics.tokens import groups_of, rounds


def held(each, name):
    return next(array for known, array in each.held if known == name)


def test_minibatches_are_put_together_again():
    for each in rounds(seen("stepwise", "")[1]):
        found, mask = learned(each), held(each, "mask") > 0
        np.testing.assert_allclose(found.weight[mask], held(each, "better")[mask], atol=1e-5)
        np.testing.assert_allclose(found.target[mask], held(each, "returns")[mask], atol=1e-5)
        np.testing.assert_array_equal(found.mask > 0, mask)


def test_prompts_that_nobody_saw_being_read():
    for each in rounds(seen("stepwise", "")[1]):
        np.testing.assert_array_equal(each.writings[0].prompts, held(each, "prompts"))


def test_one_weight_for_each_answer():
    found = [learned(each) for each in rounds(seen("listed", "")[1])]
    groups = [groups_of(each.writings[0]) for each in rounds(seen("listed", "")[1])]
    assert len(found) >= 3
    for one, sets in zip(found, groups, strict=True):
        assert np.isfinite(one.rows()).all()
        for each in np.unique(sets):
            assert abs(one.rows()[sets == each].sum()) < 1e-5
