import sys

import numpy as np
import pytest

from rldebug.probe import climb_ladder
from rldebug.probe_target import resolve, try_out
from rldebug.probes.shelf import probes
from rldebug.target import TargetError
from tests.probes.tabular import Tabular, TabularVector


class Nothing:
    def learn(self, steps): ...


class Shapeless(Tabular):
    def value(self, obs):
        return np.zeros((len(obs), 3))


class OnlyNumbers:
    """Refuses choices."""

    def __init__(self, make_env):
        self.env = make_env()
        self.size = self.env.action_space.shape[0]
        self.env.reset()

    def learn(self, steps):
        for _ in range(steps):
            *_, terminated, truncated, _info = self.env.step(np.zeros(self.size))
            if terminated or truncated:
                self.env.reset()


def _raises(make_env):
    raise RuntimeError("no\nchance")


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (lambda make_env: None, "returned None: expected an SB3 model, or an object with learn"),
        (lambda make_env: 3, r"returned a int without learn\(steps\)"),
        (lambda: None, "takes no argument: expected make_agent"),
        (lambda make_env, net, lr: None, r"takes \(make_env, net, lr\): expected make_agent"),
        (lambda make_env: Nothing(), "took no step in the environments that make_env"),
        (Shapeless, r"value\(obs\) has shape \(8, 3\) for 8 observations"),
        (_raises, r"could not be run: RuntimeError: no chance"),
        (7, "the target is a int: expected algo:ppo"),
        ("ppo", "did you mean algo:ppo"),
        ("algo:pop", "no algorithm algo:pop: expected one of algo:a2c"),
        ("train.py", "is a script: say which of its options takes"),
        ("CartPole-v1", "expected algo:ppo, sb3:PPO"),
    ],
    ids=["none", "int", "no argument", "many", "no step", "shape", "raises", "number", "bare", "algo", "script", "id"],
)
def test_what_cannot_be_probed_is_said(target, expected):
    with pytest.raises(TargetError, match=expected):
        climb_ladder(target, probes=["constant-reward"])


def test_both_reasons_are_given_where_it_takes_neither_choices_nor_numbers():
    def refuses(make_env):
        raise ValueError(f"no room for {type(make_env().action_space).__name__}")

    with pytest.raises(
        TargetError, match=r"choices \(ValueError: no room for Discrete.*numbers \(ValueError: no room for Box"
    ):
        climb_ladder(refuses, probes=["constant-reward"])


def test_numbers_are_tried_where_choices_are_refused():
    known = try_out(resolve(OnlyNumbers), probes())
    assert known.action == "continuous"
    assert not known.tells_values


def test_who_takes_both_can_do_the_rungs_with_numbers_too():
    class Both(OnlyNumbers):
        def __init__(self, make_env):
            self.env = make_env()
            self.size = ()
            self.env.reset()

    known = try_out(resolve(Both), probes())
    assert known.action == "discrete"
    assert "continuous" in known.target.abilities
    assert "continuous" not in try_out(resolve(Tabular), probes()).target.abilities


def test_seed_wants_and_settings_are_handed_over_to_those_who_take_them():
    seen = []

    def make_agent(make_env, *, seed, wants, lr=0.1):
        seen.append((seed, wants, lr))
        return Tabular(make_env, lr=lr)

    climb_ladder(make_agent, probes=["constant-reward"], seed=3, settings={"lr": 0.2})
    assert seen[-1] == (3, frozenset(), 0.2)
    with pytest.raises(TargetError, match="takes no 'epsilon'"):
        climb_ladder(make_agent, probes=["constant-reward"], settings={"epsilon": 1})


def test_abilities_are_those_of_the_agent_of_the_function_and_given():
    def make_agent(make_env):
        return TabularVector(make_env)

    assert try_out(resolve(make_agent), ()).target.abilities == {"vector"}
    make_agent.abilities = {"memory"}
    assert try_out(resolve(make_agent, abilities=["masks"]), ()).target.abilities == {"vector", "memory", "masks"}
    make_agent.abilities = {"flying"}
    with pytest.raises(TargetError, match="flying: expected any of normaliser"):
        resolve(make_agent)
    with pytest.raises(TargetError, match="no ability is called juggling"):
        resolve(Tabular, abilities=["juggling"])


def test_from_a_file(tmp_path):
    (tmp_path / "an_agent.py").write_text(
        "from tests.probes.tabular import Tabular\ndef make_agent(make_env): return Tabular(make_env)\n",
        encoding="utf-8",
    )
    ladder = climb_ladder("an_agent.py:make_agent", probes=["action-reward"])
    assert ladder["action-reward"].outcome == "passed"


def test_settings_of_ours_over_those_suited_to_probes_or_over_its_own():
    suited = try_out(resolve("algo:ppo", settings={"gamma": 0.5}), ())
    assert suited.declared["gamma"] == 0.5
    own = try_out(resolve("algo:ppo", defaults=True, settings={"steps": 16, "envs": 1, "epochs": 1}), ())
    assert own.declared == {"gamma": 0.99, "lam": 0.95, "rollout": 16}


def test_a_library_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    with pytest.raises(TargetError, match=r"needs stable-baselines3.*pip install 'rldebug\[sb3\]'"):
        climb_ladder("sb3:PPO")
