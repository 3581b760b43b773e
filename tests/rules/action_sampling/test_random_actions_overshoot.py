from __future__ import annotations

import pytest

from rldebug.rule import NotEnough
from rldebug.rules.action_sampling.random_actions_overshoot import RandomActionsOvershoot
from tests.programs.data import found, seen
from tests.watched import watched

rule = RandomActionsOvershoot()


def test_fires_on_random_actions_of_twice_the_range() -> None:
    (finding,) = found(rule, seen(watched, "ddpg", "random too far", random=80, steps=160))
    assert "outside of -1 to 1" in finding.seen


def test_quiet_where_they_fill_the_range() -> None:
    assert not found(rule, seen(watched, "ddpg", random=80, steps=160))


def test_nothing_is_said_where_the_network_is_asked_at_every_step() -> None:
    with pytest.raises(NotEnough):
        found(rule, seen(watched, "ddpg"))
