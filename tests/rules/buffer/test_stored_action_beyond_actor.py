from __future__ import annotations

import pytest

from rldebug.rule import NotEnough
from rldebug.rules.buffer.stored_action_beyond_actor import StoredActionBeyondActor
from tests.programs.data import found, seen
from tests.watched import watched

rule = StoredActionBeyondActor(rows=64, near=0.02)  # an actor that has hardly learned


def test_fires_where_the_action_is_stretched_before_it_is_stored() -> None:
    (finding,) = found(rule, seen(watched, "ddpg", "stretched"))
    assert "beyond 1.5" in finding.seen


def test_quiet_where_it_is_stored_as_the_actor_gives_it() -> None:
    assert not found(rule, seen(watched, "ddpg"))


def test_nothing_is_said_of_few_rows() -> None:
    with pytest.raises(NotEnough):
        found(StoredActionBeyondActor(rows=10**9), seen(watched, "ddpg"))
