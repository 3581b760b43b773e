from __future__ import annotations

import pytest

from rldebug.rules.buffer.part_of_rollout_never_learned import PartOfRolloutNeverLearned
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_where_one_environment_is_learned_from() -> None:
    (finding,) = found(PartOfRolloutNeverLearned(), seen(watched, "ppo", "one lane"))
    assert finding.severity == "warning"
    assert "environments 1–3" in finding.seen


def test_the_last_step_alone_is_a_note() -> None:
    (finding,) = found(PartOfRolloutNeverLearned(), seen(watched, "ppo", "last step"))
    assert finding.severity == "note"
    assert "steps 23 of 24" in finding.seen


@pytest.mark.parametrize("bug", ["", "replacement"])
def test_quiet_where_no_place_is_always_left_out(bug: str) -> None:
    assert not found(PartOfRolloutNeverLearned(), seen(watched, "ppo", bug))
