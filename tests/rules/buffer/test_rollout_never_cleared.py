from __future__ import annotations

from rldebug.rules.buffer.rollout_never_cleared import RolloutNeverCleared
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_where_rollouts_pile_up() -> None:
    (finding,) = found(RolloutNeverCleared(), seen(watched, "ppo", "never cleared", phases=8))
    assert finding.severity == "warning"


def test_quiet_where_only_the_newest_is_learned_from() -> None:
    assert not found(RolloutNeverCleared(), seen(watched, "ppo", phases=8))
