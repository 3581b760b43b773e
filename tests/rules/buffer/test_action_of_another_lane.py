from __future__ import annotations

from rldebug.rules.buffer.action_of_another_lane import ActionOfAnotherLane
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_on_a_roll_over_the_environments() -> None:
    (finding,) = found(ActionOfAnotherLane(), seen(watched, "ppo", "lanes turned"))
    assert finding.severity == "error"


def test_quiet_where_every_lane_has_its_own() -> None:
    assert not found(ActionOfAnotherLane(), seen(watched, "ppo"))
