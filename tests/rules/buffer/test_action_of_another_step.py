from __future__ import annotations

import pytest

from rldebug.rules.buffer.action_of_another_step import ActionOfAnotherStep
from tests.programs.data import found, seen
from tests.watched import watched


@pytest.mark.parametrize("program", ["dqn", "ppo", "ddpg"])
def test_fires_on_actions_of_the_step_before(program: str) -> None:
    (finding,) = found(ActionOfAnotherStep(), seen(watched, program, "late action"))
    assert "1 step before" in finding.seen


@pytest.mark.parametrize("program", ["dqn", "ppo", "ddpg"])
def test_quiet_where_actions_are_those_executed(program: str) -> None:
    assert not found(ActionOfAnotherStep(), seen(watched, program))


def test_quiet_where_actions_are_of_no_other_step_either() -> None:
    assert not found(ActionOfAnotherStep(), seen(watched, "dqn", "other action"))
