"""How many rows of the batch the policy loss is made of."""

from __future__ import annotations

import numpy as np
import pytest

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough
from rldebug.rules.policy_loss.policy_loss_of_few_rows import PolicyLossOfFewRows
from tests.programs.losses_made import script, term


def made(counts: list[int], critic: int = 32) -> Script:
    batch = np.arange(32)
    losses = []
    for number, some in enumerate(counts):
        policy = term(1, number, rows=some, family="categorical", shapes={"logp": [some]})
        policy = term(1, number, **{**policy.detail, "rows": some}, index=np.zeros(some), weight=np.ones(some))
        policy.arrays["rows"] = batch  # type: ignore[index]
        value = term(2, number, "regression", op="mse", target=np.zeros(critic))
        value.arrays["rows"] = batch[:critic]  # type: ignore[index]
        losses.append([[policy, value]])
    return script(losses)


def test_fires_a_slice_that_was_left_over_is_found() -> None:
    assert "4 of 32 rows" in next(iter(PolicyLossOfFewRows().check(made([4] * 5)))).seen


def test_quiet_all_rows_are_fine() -> None:
    assert list(PolicyLossOfFewRows().check(made([32] * 5))) == []


def test_quiet_rows_that_are_chosen_change_in_number() -> None:
    assert list(PolicyLossOfFewRows().check(made([4, 7, 5, 9, 3]))) == []


def test_quiet_where_the_critic_learns_from_as_few() -> None:
    with pytest.raises(NotEnough):
        list(PolicyLossOfFewRows().check(made([4] * 5, critic=4)))
