from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rldebug.evidence.hyperparameters import compare, reference
from rldebug.train import find, names
from tests.evidence.beside import PPO, compared, differing, values, verdict

# ── the reference ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Base:
    gamma: float = 0.9  # overridden below
    seed: int = 0
    """A string
    below."""


@dataclass(frozen=True)
class Settings(Base):
    gamma: float = 0.99  # how much a reward one step later counts
    damping: float = (
        0.1  # too long for one line
    )  # fmt: skip
    hidden: tuple[int, ...] = field(default_factory=lambda: (64, 64))
    "of the layers"
    bare: int = 1
    other: str = "#"  # not the # in the value


def test_reasons_come_from_the_comments():
    assert [(each.name, each.value, each.reason) for each in reference(Settings)] == [
        ("gamma", 0.99, "how much a reward one step later counts"),
        ("seed", 0, "A string below."),
        ("damping", 0.1, "too long for one line fmt: skip"),
        ("hidden", (64, 64), "of the layers"),
        ("bare", 1, ""),
        ("other", "#", "not the # in the value"),
    ]


def test_an_instance_has_its_own_values():
    found = {each.name: each for each in reference(Settings(gamma=0.5, hidden=(32,)))}
    assert (found["gamma"].value, found["gamma"].default) == (0.5, 0.99)
    assert (found["hidden"].value, found["hidden"].default) == ((32,), (64, 64))
    assert [name for name, each in found.items() if each.changed] == ["gamma", "hidden"]


def test_a_class_has_its_defaults():
    assert not any(each.changed for each in reference(Settings))


def test_no_source_no_reasons():
    typed_in = dataclasses.make_dataclass("TypedIn", [("gamma", float, 0.9)])
    assert [(each.name, each.value, each.reason) for each in reference(typed_in)] == [("gamma", 0.9, "")]


@pytest.mark.parametrize("name", names())
def test_our_own_algorithms_are_explained_and_equal_to_themselves(name):
    module = find(name)
    assert all(each.reason for each in reference(module.Settings)), "a setting without a comment"
    found = compare(name, module.Settings, Path(module.__file__))
    assert differing(found) == set()
    assert found.missing == ()


def test_the_settings_for_an_environment_are_compared_with():
    Path("train.py").write_text("gamma = 0.9\nclip = 0.2\nlam = 0.95\n", encoding="utf-8")
    found = compare("ppo", PPO(gamma=0.9, lam=1.0), Path("train.py"), "Own-v0")
    assert found.env == "Own-v0"
    assert differing(found) == {"lam"}
    assert [(each.name, each.value, each.default) for each in found.changed] == [
        ("gamma", 0.9, 0.99),
        ("lam", 1.0, 0.95),
    ]
    assert compare("ppo", PPO, Path("train.py")).changed == ()


# ── several places, and values that must be worked out ──────────────────────────────────────────────────────────────


def test_all_values_that_differ_are_listed():
    script = "GAMMA = 0.9\ndef gae(gamma=0.99): ...\ngae(gamma=0.9)\ngae(discount=0.95)\n"
    found = compared("ppo", script)
    assert [(row.name, row.yours, row.line, row.same) for row in found.rows] == [
        ("gamma", 0.9, 1, False),
        ("gamma", 0.99, 2, True),
        ("gamma", 0.95, 4, False),
    ]


def test_minibatches_by_number():
    found = compared("ppo", "num_steps = 128\nnum_envs = 8\nnum_minibatches = 32\n")
    assert values(found) == {"minibatch": [32], "steps": [128], "envs": [8]}
    assert [row.given_as for row in found.rows if row.name == "minibatch"] == ["num_steps × num_envs / num_minibatches"]
    assert verdict(found, "minibatch") == "8× lower: noisy gradients"
    assert found.unmatched == ()


def test_a_rollout_counted_over_all_environments():
    found = compared("ppo", "steps_per_epoch = 4096\n")
    assert [(row.name, row.reference, row.verdict) for row in found.rows] == [("steps × envs", 1024, "4× higher")]
    assert not {"steps", "envs"} & {each.name for each in found.missing}
    found = compared("ppo", "frames_per_batch = 1024\nnum_envs = 4\n")
    assert values(found) == {"steps": [256], "envs": [4]}
    assert values(compared("vpg", "batch_size = 5000")) == {"steps": [5000]}  # one environment


def test_exploration_by_steps():
    found = compared("dqn", "total_timesteps = 100_000\nepsilon_decay_steps = 20_000\n")
    assert values(found) == {"epsilon_fraction": [0.2]}
    assert found.unmatched == ()


def test_two_values_are_not_multiplied():
    found = compared("ppo", "num_steps = 128\nnum_envs = 8\nNUM_ENVS = 16\nnum_minibatches = 4\n")
    assert "minibatch" not in values(found)


# ── what is not compared ──────────────────────────────────────────────────────────────────────────────────────────────


def test_no_target_network_is_said():
    [each] = [each for each in compared("dqn", "gamma = 0.9").missing if each.name == "target_every"]
    assert "without a target network" in each.reason
    found = compared("dqn", "gamma = 0.9\ntau = 0.01")
    [each] = [each for each in found.missing if each.name == "target_every"]
    assert each.reason == ""


def test_a_switch_may_be_written_as_a_number():
    found = compared(
        "ppo", 'p.add_argument("--norm-adv", type=int, default=0)\np.add_argument("--lr-decay", default=1)\n'
    )
    assert values(found) == {"normalise_advantage": [False], "anneal": [True]}
    assert differing(found) == {"normalise_advantage"}


def test_switches_and_numbers_are_not_compared():
    found = compared("ppo", "anneal_lr = 0.99\nnorm_adv = True\ngamma = 'high'\n")
    assert set(values(found)) == {"normalise_advantage"}
    assert [(each.name, each.why) for each in found.unmatched] == [
        ("anneal_lr", "a number here, anneal is not"),
        ("gamma", "a word here, gamma is not"),
    ]


def test_missing_is_in_the_order_of_the_reference():
    found = compared("ppo", "gamma = 0.99")
    assert [each.name for each in found.missing] == [each.name for each in reference(PPO) if each.name != "gamma"]


def test_an_unknown_algorithm_has_the_names_that_mean_one_thing():
    Path("train.py").write_text("discount = 0.9\nn_steps = 5\nthird = 1")

    @dataclass(frozen=True)
    class Own:
        gamma: float = 0.99
        third: int = 3

    found = compare("own", Own, Path("train.py"))
    assert [(row.name, row.yours) for row in found.rows] == [("gamma", 0.9), ("third", 1)]
