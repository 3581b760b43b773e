from __future__ import annotations

from rldebug.rules.buffer.truncation_leads_into_next_episode import TruncationLeadsIntoNextEpisode
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_where_the_reset_takes_the_place_of_the_final_observation() -> None:
    assert found(TruncationLeadsIntoNextEpisode(), seen(watched, "dqn", "next is reset"))


def test_quiet_where_the_final_observation_is_stored() -> None:
    assert not found(TruncationLeadsIntoNextEpisode(), seen(watched, "dqn"))


def test_quiet_where_the_target_does_not_use_it() -> None:
    assert not found(TruncationLeadsIntoNextEpisode(), seen(watched, "dqn", "next is reset, masked"))
