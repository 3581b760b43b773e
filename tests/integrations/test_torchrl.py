"""TorchRL: its environments, loss modules and trainers are seen; what users get wrong is named; sound programs are not
spoken of, and not changed."""

import sys
import warnings

import pytest
import torch

import rldebug

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what it says of its next version, and of its compiled part, when it is imported
    pytest.importorskip("torchrl", reason="TorchRL is in the extra `torchrl`, which is not installed")
    pytest.importorskip("torchrl.trainers", reason="the trainers of TorchRL cannot be imported")

from torchrl._utils import logger
from torchrl.envs import GymEnv, ObservationNorm, SerialEnv, TransformedEnv

from rldebug.evidence.run import read_run
from rldebug.evidence.script import read_script
from rldebug.forensics.card import card
from rldebug.integrations.torchrl import RLDebugHook, hand_over
from tests.integrations import pages
from tests.integrations.torchrl_programs import Pushed, cartpole, dqn, pendulum, ppo, sac

pytestmark = [
    pytest.mark.integration,
    # TorchRL's own: about what its next version will do, and about its compiled part, which this torch does not load.
    pytest.mark.filterwarnings("ignore:.*torchrl.*:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*TorchRL.*"),
    pytest.mark.filterwarnings("ignore:Found an eps value < 0.5"),  # it warns of one of the mistakes itself
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def _quietly():
    level = logger.level
    logger.setLevel("ERROR")
    yield
    logger.setLevel(level)


def seen(program, folder):
    """How much is looked at must not depend on how busy the machine is."""
    with rldebug.attach(run="run", folder=folder, overhead_budget=1.0, quiet=True) as dbg:
        program()
    assert not dbg.broken, "\n".join(dbg.broken.values())
    return dbg


def spoken_of(report):
    return [each for each in report.roots if each.severity != "note"]


# ── the page ──


def test_the_example_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    made = pages.run("torchrl")
    assert not spoken_of(made["hook"].report)
    declared = read_run(tmp_path / ".rldebug" / "runs" / "cartpole").meta["declared"]
    assert declared["algorithm"] == "ClipPPO"
    assert declared["frames_per_batch"] == 256
    assert "cartpole" in capsys.readouterr().err


# ── sound programs ──

SOUND = {
    "PPO": lambda: ppo(cartpole()),
    "PPO, several environments": lambda: ppo(SerialEnv(4, cartpole), seed=1),
    "PPO, an environment of one's own": lambda: ppo(Pushed(8), each=512, frames=4096, size=2),
    "DQN": lambda: dqn(cartpole(one_hot=True)),
    "SAC": lambda: sac(pendulum()),
}


@pytest.mark.parametrize("program", SOUND.values(), ids=SOUND)
def test_quiet_when_the_program_is_sound(program, tmp_path):
    report = seen(program, tmp_path).report()
    assert not spoken_of(report), [each.message for each in report.roots]


# ── what is understood of them ──


def test_a_functional_loss_is_taken_apart(tmp_path):
    dbg = seen(lambda: ppo(SerialEnv(4, cartpole)), tmp_path)
    found = card(read_script(dbg.path))
    assert found["policy_loss"]["clip"] == pytest.approx([0.8, 1.2], abs=1e-3)
    [target] = found["targets"]
    assert (target["kind"], target["gamma"], target["lambda"]) == ("GAE", 0.99, 0.95)


def test_a_target_network_that_is_lent_its_weights_is_told_from_the_one_that_learns(tmp_path):
    dbg = seen(lambda: dqn(cartpole(one_hot=True)), tmp_path)
    found = card(read_script(dbg.path))
    [follower] = found["target_networks"]
    assert follower["tau"] == pytest.approx(0.01, abs=1e-4)
    assert found["targets"][0]["kind"] == f"the largest value of {follower['name']}"


def test_critics_that_are_mapped_over_their_weights_are_followed(tmp_path):
    dbg = seen(lambda: sac(pendulum()), tmp_path)
    found = card(read_script(dbg.path))
    [target] = found["targets"]
    assert target["kind"].startswith("the smaller of")
    assert target["gamma"] == pytest.approx(0.99, abs=1e-3)
    assert 0.3 < target["alpha"] < 1.1
    assert [each["tau"] for each in found["target_networks"]] == [pytest.approx(0.005, abs=1e-4)]


def test_the_outermost_environment_is_told_after_its_transforms(tmp_path):
    env = TransformedEnv(
        GymEnv("CartPole-v1", categorical_action_encoding=True),
        ObservationNorm(loc=0.1, scale=2.0, in_keys=["observation"], standard_normal=False),
    )
    dbg = seen(lambda: ppo(env, frames=512), tmp_path)
    script = read_script(dbg.path)
    [stream] = script.streams
    assert (stream["kind"], stream["facts"]["id"], stream["facts"]["action_n"]) == ("torchrl", "CartPole-v1", 2)
    assert stream["facts"]["transforms"] == ["ObservationNorm"]
    acting = [call for _, call in script.events("call") if call["acting"]]
    assert acting
    assert {call["match"] for call in acting} == {"raw"}


def test_an_environment_of_ones_own_is_followed_lane_by_lane(tmp_path):
    dbg = seen(lambda: ppo(Pushed(8), each=512, frames=1024, size=2), tmp_path)
    [stream] = read_script(dbg.path).streams
    assert (stream["lanes"], stream["steps"], stream["facts"]["id"]) == (8, 1024, "Pushed")
    assert stream["facts"]["action_space"] == "Discrete"
    assert max(stream["lengths"]) == 40


# ── what users get wrong ──

BUGS = {
    "collects deterministically": (lambda bug: ppo(cartpole(), bug), "action-sampling"),
    "the optimizer has the actor alone": (lambda bug: ppo(cartpole(), bug), "optimizer"),
    "the loss of the critic is left out": (lambda bug: ppo(cartpole(), bug), "autograd-graph"),
    "the entropy is subtracted": (lambda bug: ppo(cartpole(), bug), "entropy"),
    "a time limit terminates": (lambda bug: ppo(Pushed(8, bug), each=512, frames=4096, size=2), "environment"),
    "the target is never stepped": (lambda bug: dqn(cartpole(True), bug, updates=24), "target-network"),
    "eps and tau are mixed up": (lambda bug: dqn(cartpole(True), bug), "target-network"),
    "ends are lost on the way": (lambda bug: dqn(cartpole(True), bug), "discounting"),
    "next is the same observation": (lambda bug: dqn(cartpole(True), bug), "buffer"),
    "no exploration module": (lambda bug: dqn(cartpole(True), bug), "exploration"),
    "epsilon is never stepped": (lambda bug: dqn(cartpole(True), bug, updates=20), "exploration"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_fires_when_users_get_it_wrong(bug, tmp_path):
    program, component = BUGS[bug]
    report = seen(lambda: program(bug), tmp_path).report()
    assert report.suspects, "nothing was found"
    assert report.suspects[0].component == component, [each.message for each in report.roots]


# ── handing over ──


def test_what_a_collector_yields_is_handed_over_by_its_keys(tmp_path):
    with rldebug.attach(run="run", folder=tmp_path, quiet=True) as dbg:
        given = []
        dbg.rollout = lambda **arguments: given.append(arguments)
        ppo(SerialEnv(4, cartpole), frames=256, saw=lambda data, loss: hand_over(dbg, data, loss=loss))
    assert {"obs", "action", "reward", "terminated", "truncated", "value", "logp"} == set(given[0])
    assert {name: tuple(each.shape) for name, each in given[0].items()} == {
        **dict.fromkeys(("action", "reward", "terminated", "truncated", "value", "logp"), (64, 4)),
        "obs": (64, 4, 4),
    }


def test_what_a_buffer_gives_is_handed_over_as_rows_and_one_hot_actions_as_places(tmp_path):
    with rldebug.attach(run="run", folder=tmp_path, quiet=True) as dbg:
        given = []
        dbg.replay = lambda **arguments: given.append(arguments)
        dqn(cartpole(one_hot=True), frames=64, saw=lambda data, loss: hand_over(dbg, data, loss=loss, rollout=False))
    assert {"obs", "action", "reward", "next_obs", "terminated", "truncated"} == set(given[0])
    assert given[0]["action"].shape == (32,)
    assert set(given[0]["action"].tolist()) <= {0, 1}


def test_values_are_measured_where_they_are_handed_over(tmp_path):
    with rldebug.attach(run="run", folder=tmp_path, quiet=True) as dbg:
        ppo(SerialEnv(4, cartpole), frames=512, saw=lambda data, loss: hand_over(dbg, data, loss=loss))
    assert not dbg.broken
    assert any(name.startswith("value/") for name in read_run(dbg.path).series)


def test_keys_that_are_not_known_are_refused():
    with pytest.raises(ValueError, match="'observation': …} is not known: expected some of obs, action"):
        RLDebugHook(keys={"observation": "pixels"})


def test_something_else_than_a_loss_module_is_refused(tmp_path):
    with (
        rldebug.attach(run="run", folder=tmp_path, quiet=True) as dbg,
        pytest.raises(TypeError, match="got a Linear, expected a loss module of TorchRL"),
    ):
        hand_over(dbg, None, loss=torch.nn.Linear(1, 1))


# ── promises ──


@pytest.mark.parametrize("program", [SOUND["PPO, several environments"], SOUND["DQN"]], ids=["PPO", "DQN"])
def test_watching_changes_nothing(program, tmp_path):
    alone = program()
    generator = torch.get_rng_state()
    watched = []
    seen(lambda: watched.extend(program()), tmp_path)
    assert all(map(torch.equal, alone, watched))
    assert torch.equal(generator, torch.get_rng_state())


def test_a_block_keeps_what_is_raised(tmp_path):
    with pytest.raises(RuntimeError, match="out of luck"), RLDebugHook("run", folder=tmp_path, quiet=True) as hook:
        raise RuntimeError("out of luck")
    assert hook.report is not None
    assert read_run(tmp_path / "run").meta["state"] == "crashed"


def test_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchrl.trainers", None)
    monkeypatch.delitem(sys.modules, "rldebug.integrations.torchrl")
    with pytest.raises(ImportError, match=r"needs TorchRL.*pip install 'rldebug\[torchrl\]'"):
        import rldebug.integrations.torchrl  # noqa: F401
