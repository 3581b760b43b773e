"""The protocol: what an agent of the user's must have, and what the ladder makes of it."""

from types import SimpleNamespace

import pytest
from gymnasium.vector import AutoresetMode

from rldebug.probes.agent import Factory, adapt
from rldebug.probes.shelf import find
from rldebug.target import TargetError


def test_an_agent_is_taken_as_it_is():
    agent = SimpleNamespace(learn=lambda steps: None, value=lambda obs: obs, gamma=0.9, lam=0.95, policy="MlpPolicy")
    learner = adapt(agent, "mine")
    assert learner.value is agent.value
    assert learner.policy is None  # a word, no function
    assert learner.declared == {"gamma": 0.9, "lam": 0.95}


@pytest.mark.parametrize("agent", [None, 3, SimpleNamespace(train=lambda: None)], ids=["None", "3", "no learn"])
def test_what_cannot_learn_is_refused(agent):
    with pytest.raises(TargetError, match=r"mine returned a .* without learn\(steps\)"):
        adapt(agent, "mine")


def test_a_factory_knows_what_was_played_on_all_its_environments():
    factory = Factory(find("constant-reward")(0.9))
    for env in (factory(), factory()):
        env.reset(seed=0)
        env.step(1)
    assert [(step.env, step.action, step.reward, step.ended) for step in factory.log] == [
        (0, 1, 1.0, True),
        (1, 1, 1.0, True),
    ]


@pytest.mark.parametrize(
    ("autoreset", "mode"),
    [
        (None, AutoresetMode.NEXT_STEP),
        ("next-step", AutoresetMode.NEXT_STEP),
        ("same-step", AutoresetMode.SAME_STEP),
        ("disabled", AutoresetMode.DISABLED),
    ],
)
def test_several_side_by_side_restart_as_the_probe_says(autoreset, mode):
    kind = type("Restarting", (find("constant-reward"),), {"autoreset": autoreset})
    envs = Factory(kind(0.9)).vector(3)
    assert envs.num_envs == 3
    assert envs.metadata["autoreset_mode"] is mode
    envs.close()


def test_a_factory_taken_for_an_environment_says_what_it_is():
    with pytest.raises(AttributeError, match=r"make_env\(\)\.action_space"):
        _ = Factory(find("constant-reward")(0.9)).action_space
