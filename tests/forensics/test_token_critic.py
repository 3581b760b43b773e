"""What critic and policy are told says how the program credits its tokens, without any of its variables."""

import numpy as np
import pytest
from tests.programs.written import seen

from rldebug.forensics.token_critic import fitted, normalised_by, recursion, told, told_of_another_place


@pytest.mark.parametrize(("kind", "carried"), [("critic", 0.9), ("stepwise", 0.9)])
def test_the_recursion_is_found(kind, carried):
    found = [fit for each in told(seen(kind, "")[1]) if (fit := recursion(each)) is not None]
    assert len(found) >= 2
    for each in found:
        assert abs(each.discount - 1.0) < 1e-3
        assert abs(each.carried - carried) < 1e-3
    assert any(each.penalty is not None and abs(each.penalty + 0.05) < 1e-3 for each in found)


def test_advantage_and_error_of_the_critic_are_the_same_but_for_a_normalisation():
    for each in told(seen("stepwise", "")[1]):
        keep = each.written
        assert fitted(each.weight[keep], [each.surprise[keep], np.ones(keep.sum())])[1] < 1e-3
        assert not told_of_another_place(each)
        assert not normalised_by(each)


def test_a_sign_is_found():
    found = [fit for each in told(seen("critic", "paid")[1]) if (fit := recursion(each)) is not None and fit.penalty]
    assert found
    assert all(each.penalty > 0.04 for each in found)
