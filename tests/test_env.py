from __future__ import annotations

import json

import gymnasium as gym
import jsonschema
import pytest

from rldebug.config import Config
from rldebug.env import check_and_play, check_env, resolve
from rldebug.parts.make import EnvError
from rldebug.render.json import schema
from rldebug.target import TargetError
from tests.planted_envs import planted

LITTLE = {"steps": 1500, "seconds": 6.0}
HEATER = planted("heater_not_switched")


@pytest.fixture(scope="module")
def sick():
    return check_and_play(HEATER.make, **LITTLE)


def test_what_is_wrong_is_named(sick):
    report, played = sick
    assert report.command == "env"
    assert report.exit == 1
    assert not report.broken
    assert report.roots[0].code == HEATER.EXPECT
    assert played.play("random").episodes > 0


def test_contract_and_play_are_both_judged(sick):
    from rldebug import catalogue

    read = {rule.reads for rule in catalogue.rules() if rule.code in sick[0].checked}
    assert read == {"EnvContract", "EnvPlay"}


def test_the_report_keeps_its_format_and_has_the_figures(sick):
    data = json.loads(json.dumps(sick[0].to_dict(), allow_nan=False))
    jsonschema.validate(data, schema())
    assert data["program"]["plays"][0]["agent"] == "random"
    assert data["program"]["action_space"] == "Discrete(3)"


def test_an_id_is_clean():
    report = check_env("CartPole-v1", **LITTLE)
    assert report.clean
    assert report.exit == 0
    assert report.title == "CartPole-v1"


def test_an_automaton_plays_too():
    def hold(obs):
        return int(obs[0] < 0)

    _, played = check_and_play(HEATER.sound, automaton=hold, **LITTLE)
    assert played.play("written").agent == "hold"
    assert played.play("written").mean > played.play("random").mean


def test_rules_can_be_left_out():
    report = check_env(HEATER.make, config=Config(select=("ENV030",)), **LITTLE)
    assert [each.code for each in report.findings] == ["ENV030"]
    assert not report.folded


def test_a_class_and_a_function_of_a_module_make_environments():
    for target in ("tests.planted_envs.heater_not_switched:Room", "tests.planted_envs.heater_not_switched:sound"):
        make, name = resolve(target, {})
        assert isinstance(make(), HEATER.Room)
        assert name == target


def test_arguments_reach_the_class():
    make, _ = resolve("tests.planted_envs.market_pays_anyway:Trading", {"days": 7})
    assert make().days == 7


def test_what_make_is_called_with_reaches_the_environment():
    make, _ = resolve("CartPole-v1", {})
    assert make(render_mode="rgb_array").render_mode == "rgb_array"


class Bare(gym.Env):
    pass


def raises():
    raise RuntimeError("no simulator here")


def wants(size):
    return None


@pytest.mark.parametrize(
    ("target", "error", "said"),
    [
        ("CartPol-v1", EnvError, "CartPol"),
        ("no_module_of_this_name:Thing", TargetError, "no module called no_module_of_this_name"),
        ("tests.planted_envs.heater_not_switched:Roon", TargetError, "did you mean Room"),
        ("tests.planted_envs.heater_not_switched:EXPECT", EnvError, "is a str: expected a class"),
        (raises, EnvError, "raises could not be made: RuntimeError: no simulator here"),
        (wants, EnvError, "--env-arg KEY=VALUE"),
        (dict, EnvError, "dict made a dict, expected a gymnasium.Env"),
        (Bare, EnvError, "has no observation_space"),
        (HEATER.sound(), EnvError, "made already"),
        (lambda: gym.make_vec("CartPole-v1", 2, vectorization_mode="sync"), EnvError, "gymnasium.Env"),
    ],
    ids=[
        "unknown id",
        "no module",
        "no such name",
        "not a class",
        "raises",
        "wants arguments",
        "not an environment",
        "no spaces",
        "an instance",
        "vector",
    ],
)
def test_what_cannot_be_made_is_said(target, error, said):
    with pytest.raises(error, match=said.replace("(", r"\(")):
        check_env(target, **LITTLE)


@pytest.mark.parametrize("given", [{"steps": 0}, {"seconds": 0.0}], ids=["steps", "seconds"])
def test_there_must_be_something_to_play(given):
    with pytest.raises(EnvError, match="at least one step"):
        check_env("CartPole-v1", **given)


def test_an_automaton_that_is_no_function_is_refused():
    with pytest.raises(EnvError, match="obs -> action"):
        check_env("CartPole-v1", automaton="tests.planted_envs.heater_not_switched:EXPECT", **LITTLE)
