from __future__ import annotations

import pytest

from rldebug.rule import NotEnough
from rldebug.rules.action_sampling.action_cut_to_whole_numbers import ActionCutToWholeNumbers
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_on_actions_cast_to_int() -> None:
    assert found(ActionCutToWholeNumbers(), seen(watched, "ddpg", "whole numbers"))


@pytest.mark.parametrize("bug", ["", "bang bang"])
def test_quiet_on_fractions_and_on_bounds(bug: str) -> None:
    if bug:
        with pytest.raises(NotEnough):
            found(ActionCutToWholeNumbers(), seen(watched, "ddpg", bug))
    else:
        assert not found(ActionCutToWholeNumbers(), seen(watched, "ddpg"))
