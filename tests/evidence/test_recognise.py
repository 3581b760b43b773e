from __future__ import annotations

import pytest

from rldebug.evidence.hyperparameters import reference
from tests.evidence.beside import KINDS, compared, left, values


@pytest.mark.parametrize("name", ["alpha", "epsilon", "steps", "tau", "eps", "beta", "step_size"])
def test_what_could_mean_several_things_is_not_matched(name):
    found = compared("ppo", f"gamma = 0.99\n{name} = 0.5\n")
    assert set(values(found)) == {"gamma"}
    assert left(found) == {name: 0.5}
    [each] = found.unmatched
    assert " or " in each.why


def test_the_algorithm_can_make_it_plain():
    assert values(compared("sac", "alpha = 0.5\ntau = 0.1\npolyak = 0.99")) == {"alpha": [0.5], "tau": [0.1, 0.01]}
    assert values(compared("a2c", "beta = 0.02")) == {"entropy_coef": [0.02]}
    assert values(compared("trpo", "delta = 0.1")) == {"max_kl": [0.1]}
    assert values(compared("dqn", "alpha = 0.1\nbeta = 0.5\ngamma = 0.9")) == {"gamma": [0.9]}
    assert values(compared("dqn", "n_steps = 3")) == {"n_step": [3]}
    assert values(compared("ppo", "n_steps = 3")) == {"steps": [3]}
    assert values(compared("dqn", "n_steps = 100_000")) == {}  # in all


def test_names_of_our_own_around_it_make_it_plain():
    copied = (
        "class Settings:\n    envs: int = 8\n    steps: int = 64\n    minibatch: int = 256\n    lam: float = 0.95\n"
    )
    assert values(compared("ppo", copied))["steps"] == [64]
    per = "[dqn]\nbuffer = 5000\nbatch = 32\ntrain_every = 1\nalpha = 0.7\n"
    assert values(compared("dqn", per, "my.toml"))["alpha"] == [0.7]


@pytest.mark.parametrize(
    "script",
    [
        "model = DQN('MlpPolicy', env, gamma=0.9)",
        "class A2CConfig:\n    gamma = 0.9",
        "lr = 0",
        "gamma = None",
        "net = Net(hidden=())",
    ],
)
@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_another_algorithm_and_values_that_are_not_meant(script, algorithm):
    found = compared(algorithm, script)
    assert found.rows == ()
    assert [each.name for each in found.missing] == [each.name for each in reference(KINDS[algorithm])]


def test_a_prefix_of_the_algorithm_is_looked_past():
    assert values(compared("ppo", "PPO_GAMMA = 0.9\nSAC_GAMMA = 0.8")) == {"gamma": [0.9]}


def test_epochs_beside_steps_per_epoch_are_rounds():
    assert values(compared("ppo", "epochs = 50")) == {"epochs": [50]}
    found = compared("ppo", "def ppo(steps_per_epoch=1024, epochs=50): ...")
    assert "epochs" not in values(found)
    assert left(found) == {"epochs": 50}


def test_a_surer_name_counts():
    found = compared("ppo", "BATCH_SIZE = 2048\nMINIBATCH_SIZE = 64\n")
    assert values(found) == {"minibatch": [64]}
    assert left(found) == {"BATCH_SIZE": 2048}


def test_decay_by_a_factor_is_no_number_of_steps():
    assert left(compared("dqn", "GAMMA = 0.9\nEPS_DECAY = 0.995")) == {"EPS_DECAY": 0.995}


def test_what_does_not_count_is_not_listed():
    script = "SEED = 1\nLOG_INTERVAL = 10\nNUM_EPISODES = 600\nSTATE_DIM = 4\nDROPOUT = 0.3\nGAMMA = 0.99\nname = 'x'"
    assert left(compared("ppo", script)) == {"DROPOUT": 0.3}
    assert left(compared("ppo", "DROPOUT = 0.3")) == {}  # nothing beside it is a hyperparameter
