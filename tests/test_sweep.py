"""Healthy references over seeds: which there are, and the band of their returns."""

import pytest

from rldebug.campaign.task import Failed
from rldebug.settings import SettingsError
from rldebug.sweep import bands, interval, refer, references
from rldebug.target import TargetError


def test_every_algorithm_meets_every_environment_with_every_seed():
    tasks = references(["PPO", "dqn"], ["CartPole-v1", "Acrobot-v1"], range(3, 5), steps=100)
    assert [str(each) for each in tasks][:3] == [
        "ppo CartPole-v1 seed 3",
        "ppo CartPole-v1 seed 4",
        "dqn CartPole-v1 seed 3",
    ]
    assert len({each.key for each in tasks}) == 8
    assert references(["ppo"], ["CartPole-v1"], [3], steps=100)[0].key == tasks[0].key
    assert references(["ppo"], ["CartPole-v1"], [3], steps=200)[0].key != tasks[0].key


def test_without_a_name_those_that_suit_the_environment():
    assert {each.algorithm for each in references([], ["CartPole-v1"], [0])} == {"a2c", "dqn", "ppo", "vpg"}
    assert {each.algorithm for each in references([], ["MountainCarContinuous-v0"], [0])} == {
        "a2c",
        "ppo",
        "sac",
        "trpo",
        "vpg",
    }


def test_a_setting_that_nobody_has_is_refused_before_anything_runs():
    with pytest.raises(SettingsError, match="learning_rat"):
        references(["ppo"], ["CartPole-v1"], [0], settings={"learning_rat": "1"})


def test_the_same_seed_gets_the_same_return():
    (task,) = references(["vpg"], ["CartPole-v1"], [1], steps=300, episodes=1)
    one, other = refer(task), refer(task)
    one.pop("seconds"), other.pop("seconds")
    assert one == other
    assert one["return"] > 0
    assert one["random"] > 0


def test_a_band_is_of_what_is_known():
    tasks = references(["ppo"], ["CartPole-v1"], range(4), steps=100)
    told = {"while_training": 1.0, "random": 20.0, "seconds": 2.0}
    results = {each.key: {"return": value, **told} for each, value in zip(tasks, (10.0, 12.0, 14.0), strict=False)}
    results[tasks[3].key] = Failed("its process died")
    (band,) = bands(tasks, results)
    assert band.returns == (10.0, 12.0, 14.0)
    assert band.mean == 12.0
    low, high = band.interval
    assert (low, high) == pytest.approx((12 - 4.30 * 2 / 3**0.5, 12 + 4.30 * 2 / 3**0.5))
    assert band.to_dict()["lowest"] == 10.0
    assert band.to_dict()["seconds"] == 6.0


def test_the_interval_is_students():
    assert interval([1.0]) is None
    low, high = interval([0.0, 1.0] * 50)
    assert (low, high) == pytest.approx((0.5 - 1.984 * 0.5025 / 10, 0.5 + 1.984 * 0.5025 / 10), abs=1e-3)


def test_no_algorithm_for_its_actions(monkeypatch):
    monkeypatch.setattr("rldebug.sweep._fitting", lambda env_id: [])
    with pytest.raises(TargetError, match="has actions like those"):
        references([], ["CartPole-v1"], [0])
