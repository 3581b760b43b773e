from __future__ import annotations

import pytest

from rldebug.rule import NotEnough
from rldebug.rules.action_sampling.action_cut_to_whole_numbers import ActionCutToWholeNumbers
from tests.programs.data import found, seen


def test_fires_on_actions_cast_to_int() -> None:
    assert found(ActionCutToWholeNumbers(), seen("ddpg", "whole numbers"))


@pytest.mark.parametrize("bug", ["", "bang bang"])
def test_quiet_on_fractions_and_on_bounds(bug: str) -> None:
    if bug:
        with pytest.raises(NotEnough):
            found(ActionCutToWholeNumbers(), seen("ddpg", bug))
    else:
        assert not found(ActionCutToWholeNumbers(), seen("ddpg"))
