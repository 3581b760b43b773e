"""Where a name in a failing line got its value."""

import linecache
from dataclasses import replace

import gymnasium as gym

from rldebug.evidence.crashes.bound import bound
from tests.rules.crashes import crashed


def failing(value):
    return value.nothing


class Holder:
    def __init__(self):
        self.kept = list(range(3))

    def fail(self):
        return self.kept.nothing


def test_an_argument_is_followed_to_the_call():
    def program():
        made = [1, 2]
        failing(made)

    crash = crashed(program)
    found = bound(crash, crash.at, "value")
    assert found is not None
    assert found.text == "[1, 2]"
    assert linecache.getline(__file__, found.line).strip() == "made = [1, 2]"


def test_what_was_handed_over_without_a_name_is_told_by_the_call():
    crash = crashed(lambda: failing(sorted("ab")))
    found = bound(crash, crash.at, "value")
    assert found is not None
    assert found.text == "sorted('ab')"


def test_a_field_is_found_in_its_class():
    crash = crashed(lambda: Holder().fail())
    found = bound(crash, crash.at, "self.kept")
    assert found is not None
    assert (found.within, found.text) == ("Holder", "list(range(3))")


def test_a_statement_that_fails_binds_nothing():
    def program():
        x = 1
        x = x.nothing
        return x

    crash = crashed(program)
    found = bound(crash, crash.at, "x")
    assert found is not None
    assert found.text == "1"


def test_a_file_that_was_changed_is_not_believed():
    crash = crashed(lambda: failing(3))
    frames = tuple(replace(frame, source="something else") for frame in crash.frames)
    changed = replace(crash, frames=frames)
    assert bound(changed, changed.at, "value") is None


def test_the_layers_of_an_environment_are_told_from_the_outside_in():
    env = gym.make("CartPole-v1")
    crash = crashed(lambda: env.nothing)
    layers = crash.operands()["env"]["layers"]
    assert [layer["type"] for layer in layers] == ["TimeLimit", "OrderEnforcing", "PassiveEnvChecker", "CartPoleEnv"]
    assert "gravity" in layers[-1]["names"]
