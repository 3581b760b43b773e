"""The ladder as a whole: what every rung must have."""

import importlib
import pkgutil
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import rldebug.probes.envs
from rldebug.entry import NAME, sections
from rldebug.probes import shelf
from rldebug.probes.encodings import CHOICES, LOOKS
from rldebug.probes.probe import Probe
from rldebug.probes.shelf import ProbeError, below, env_id, find, probes

EACH = pytest.mark.parametrize("kind", probes(), ids=lambda each: each.name)
ABILITIES = {"normaliser", "frames", "memory", "masks", "vector"}


def test_numbers_and_names_are_unique_and_without_gaps():
    assert [each.rung for each in probes()] == list(range(1, len(probes()) + 1))
    assert len({each.name for each in probes()}) == len(probes())


def test_a_rung_stands_on_one_that_comes_before():
    for each in probes():
        if each.after is not None:
            assert find(each.after).rung < each.rung, each.name


def test_one_file_one_probe_by_the_same_words():
    for info in pkgutil.iter_modules(rldebug.probes.envs.__path__):
        module = importlib.import_module(f"rldebug.probes.envs.{info.name}")
        own = [
            each
            for each in vars(module).values()
            if isinstance(each, type) and issubclass(each, Probe) and each.__module__ == module.__name__
        ]
        assert len(own) == 1, info.name
        words = info.name.split("_")
        assert own[0].name == "-".join(words)
        assert own[0].__name__ == "".join(word.capitalize() for word in words)
        assert env_id(own[0].name) == f"rldebug/{own[0].__name__}-v0"


@EACH
def test_its_page_says_what_it_asks_and_what_failing_means(kind):
    assert NAME.fullmatch(kind.name)
    assert kind.summary().endswith(".")
    assert len(kind.summary()) <= 80
    page = sections(kind.page())
    assert list(page) == ["What it asks", "What failing means"]
    assert all(len(body) > 40 for body in page.values())
    assert set(kind.wants) <= ABILITIES


@EACH
def test_chances_add_up(kind):
    probe = kind(0.9)
    for state in probe.states:
        for index in range(4):
            assert sum(probe.restart_in(index, state).values()) == pytest.approx(1.0)
        for chosen in probe.choices:
            outcomes = probe.outcomes(state, int(chosen) if kind.range is None else float(chosen))
            assert sum(each.probability for each in outcomes) == pytest.approx(1.0)
            assert all(each.next is None or each.next in probe.states for each in outcomes)


@pytest.mark.parametrize("kind", [each for each in probes() if each.asks == "value"], ids=lambda each: each.name)
def test_no_known_mistake_has_the_right_answer(kind):
    for gamma in (0.9, 0.99):
        probe = kind(gamma)
        right = probe.solve().value
        size = kind.scale or max(float(np.ptp(right)), float(np.abs(right).max()))
        wrong = probe.wrong_answers()
        assert wrong
        for name, table in wrong.items():
            if kind.name == "aliased-fork":  # its right answer depends on λ: see its own test
                continue
            assert np.abs(table - right).max() > 1e-3 * size, name


@EACH
def test_there_is_something_to_learn(kind):
    if kind.asks == "value":
        right = kind(0.9).solve().value
        assert np.abs(right).max() >= 0.2  # one who answers 0 is not right
    elif kind.asks == "policy":
        solved = kind(0.9).solve()
        assert (solved.q.max(axis=1) - solved.q.mean(axis=1)).max() > 0
    else:
        random, best = kind(0.9).returns()
        assert best > random


@EACH
def test_gymnasium_makes_it_and_finds_no_fault(kind):
    given = {"action": "continuous"} if kind.range else {}
    made = gym.make(env_id(kind.name), **given)
    assert made.unwrapped.probe.name == kind.name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on ranges that are not symmetrical, which are the point of some
        if "restart" in vars(kind):  # what is asked is what leaks over a reset: the seed cannot tell all
            with pytest.raises(AssertionError, match=r"seed|np_random"):
                check_env(made.unwrapped, skip_render_check=True)
        else:
            check_env(made.unwrapped, skip_render_check=True)


@pytest.mark.parametrize("obs", LOOKS)
@EACH
def test_it_can_be_had_in_all_clothes(kind, obs):
    for action in ("continuous",) if kind.range else CHOICES:
        made = gym.make(env_id(kind.name), obs=obs, action=action)
        seen, _ = made.reset(seed=0)
        assert made.observation_space.contains(seen)
        made.action_space.seed(0)
        seen, *_ = made.step(made.action_space.sample())
        assert made.observation_space.contains(seen)


def test_gamma_can_be_given():
    assert gym.make("rldebug/DelayedReward-v0", gamma=0.5).unwrapped.probe.solve().value.tolist() == [0.5, 1.0]


def test_it_is_found_by_any_of_its_names():
    names = ("delayed-reward", "delayed_reward", "rldebug/DelayedReward-v0", "Delayed-Reward")
    assert {find(each).rung for each in names} == {3}
    with pytest.raises(ProbeError, match="no probe called deleyed-reward: did you mean delayed-reward"):
        find("deleyed-reward")


def test_what_it_stands_on():
    assert below("delayed-reward") == ("observed-reward", "constant-reward")
    assert below("constant-reward") == ()


def test_to_register_twice_changes_nothing():
    before = dict(gym.registry)
    shelf.register()
    assert dict(gym.registry) == before
