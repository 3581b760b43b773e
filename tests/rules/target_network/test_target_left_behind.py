from dataclasses import replace

import pytest

from rldebug.forensics.followers import followers
from rldebug.rules.target_network.target_left_behind import TargetLeftBehind
from tests.programs.targets import found, q_learner, seen
from tests.watched import watched

RULE = TargetLeftBehind(few=30, some=60, many=60)


def test_fires_where_the_average_is_assigned_to_a_local_name():
    (finding,) = found(RULE, watched(lambda: q_learner("local name"), overhead_budget=10.0)[1])
    assert finding.component == "target-network"
    assert finding.where.file is not None


def test_fires_where_it_is_loaded_with_its_own_weights():
    (finding,) = found(RULE, seen("q_learner", "onto itself"))
    assert "its own weights" in finding.seen


def test_fires_where_one_of_three_is_forgotten():
    (finding,) = found(RULE, seen("ddpg", "forgotten"))
    assert "other target networks do follow" in finding.seen


@pytest.mark.parametrize(("bug", "expected"), [("local name", 1), ("", 0)])
def test_what_stays_is_known_where_little_could_be_looked_at(monkeypatch, bug, expected):
    monkeypatch.setattr("rldebug.capture.session._GRACE", 0.0)
    script = watched(lambda: q_learner(bug, steps=1700), overhead_budget=1e-9)[1]
    (follower,) = followers(script)
    assert follower.span < 1000 < follower.to_the_end.span
    assert len(found(TargetLeftBehind(), script)) == expected


def test_quiet_where_it_is_copied_or_averaged():
    assert not found(RULE, seen("q_learner"))
    assert not found(RULE, seen("q_learner", "soft"))
    assert not found(RULE, seen("ddpg"))


def test_quiet_about_a_network_that_is_meant_to_stay_as_it_is():
    assert not followers(seen("novelty"))


def test_quiet_in_a_run_that_is_shorter_than_the_interval():
    assert not found(TargetLeftBehind(), seen("q_learner", "local name"))


def test_quiet_where_another_that_follows_has_followed_only_once(monkeypatch):
    """Two agents that learn at their own pace: what one of them did after 100 steps the other may do after 140."""
    script = seen("q_learner", "local name")
    (still,) = (each for each in followers(script) if each.still)
    looks = tuple(range(0, 130, 10))
    apart = {"updates": looks, "online_prints": tuple(map(str, looks)), "distance": (0.2,) * len(looks)}
    still = replace(still, prints=("a",) * len(looks), loads=(), loaded=0, own_loads=0, **apart)
    slow = replace(still, prints=("a",) * 10 + ("b",) * 3)
    quick = replace(still, prints=tuple(map(str, looks)))
    for other, expected in ((slow, 0), (quick, 1)):
        monkeypatch.setattr("rldebug.rules.target_network.target_left_behind.followers", lambda _, o=other: (still, o))
        assert len(found(TargetLeftBehind(), script)) == expected
