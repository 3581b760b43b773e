"""Tianshou: its vector environments, networks and trainers are seen; what users get wrong is named; sound programs are
not spoken of, and not changed."""

import sys
import warnings

import numpy as np
import pytest
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of libraries that it imports
    pytest.importorskip("tianshou", reason="Tianshou is in the extra `tianshou`, which is not installed")
    pytest.importorskip("tianshou.trainer", reason="Tianshou is older than 2, which the integration is for")

from tianshou.data import Batch, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, SubprocVectorEnv
from tianshou.env.venv_wrappers import VectorEnvNormObs

from rldebug.evidence.run import read_run
from rldebug.evidence.script import read_script
from rldebug.forensics.card import card
from rldebug.integrations.tianshou import rollout_in, rows_in, watched
from tests.integrations import pages
from tests.integrations.tianshou_programs import Pushed, cartpole, dqn, pendulum, ppo, sac

pytestmark = [
    pytest.mark.integration,
    # Of libraries that Tianshou imports.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


def seen(program, folder):
    """The diagnosis of a program, and where its run lies."""
    with watched("run", folder=folder, overhead_budget=1.0, quiet=True) as watch:
        dbg = watch.dbg
        program()
    assert not dbg.broken, "\n".join(dbg.broken.values())
    return watch.report, dbg.path


def spoken_of(report):
    return [each for each in report.roots if each.severity != "note"]


# ── the page ──


def test_the_example_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    np.random.seed(0)
    made = pages.run("tianshou")
    assert not spoken_of(made["watch"].report)
    declared = read_run(tmp_path / ".rldebug" / "runs" / "cartpole").meta["declared"]
    assert (declared["algorithm"], declared["batch_size"], declared["eps_training"]) == ("DQN", 64, 0.1)
    assert "cartpole" in capsys.readouterr().err


# ── sound programs ──

SOUND = {
    "PPO": lambda: ppo(cartpole),
    "PPO, an environment of one's own": lambda: ppo(Pushed, seed=1),
    "DQN": lambda: dqn(cartpole),
    "SAC": lambda: sac(pendulum),
}


@pytest.mark.parametrize("program", SOUND.values(), ids=SOUND)
def test_quiet_when_the_program_is_sound(program, tmp_path):
    report, _ = seen(program, tmp_path)
    assert not spoken_of(report), [each.message for each in report.roots]


# ── what is understood of them ──


def test_networks_that_are_given_batches_and_arrays_are_followed(tmp_path):
    _, path = seen(SOUND["DQN"], tmp_path)
    found = card(read_script(path))
    [target] = found["targets"]
    assert "values it (double)" in target["kind"]
    assert target["gamma"] == pytest.approx(0.99, abs=1e-3)
    assert len(found["target_networks"]) == 1


def test_the_targets_of_soft_critics_are_found(tmp_path):
    _, path = seen(SOUND["SAC"], tmp_path)
    [target] = card(read_script(path))["targets"]
    assert target["kind"].startswith("the smaller of")
    assert 0.3 < target["alpha"] < 1.1


def test_each_rollout_is_handed_over(tmp_path):
    given = []
    with watched("run", folder=tmp_path, quiet=True) as watch:
        watch.dbg.rollout = lambda **arguments: given.append(arguments)
        ppo(cartpole, steps=1200)
    assert [each["reward"].shape for each in given] == [(100, 4)] * 3
    assert given[0]["obs"].shape == (100, 4, 4)


def test_rows_of_the_buffer_are_handed_over_now_and_then(tmp_path):
    given = []
    with watched("run", folder=tmp_path, quiet=True) as watch:
        watch.dbg.replay = lambda **arguments: given.append(arguments)
        dqn(cartpole, steps=400)
    assert 2 < len(given) < 20
    assert {"obs", "action", "reward", "next_obs", "terminated", "truncated"} == set(given[-1])


def test_environments_in_other_processes_are_seen_from_outside(tmp_path):
    report, path = seen(lambda: ppo(cartpole, kind=SubprocVectorEnv, steps=800), tmp_path)
    assert not spoken_of(report)
    stream = read_script(path).streams[0]
    assert (stream["kind"], stream["lanes"], stream["steps"]) == ("tianshou-vec", 4, 800)
    assert stream["seeds"][0] == 0
    assert stream["learned"]


def test_a_wrapper_around_the_vector_is_told_in_its_place(tmp_path):
    def normalised(envs):
        return VectorEnvNormObs(DummyVectorEnv(envs))

    _, path = seen(lambda: ppo(cartpole, kind=normalised, steps=800), tmp_path)
    stream = read_script(path).streams[0]
    assert stream["facts"]["wrappers"][:2] == ["VectorEnvNormObs", "DummyVectorEnv"]
    assert stream["facts"]["id"] == "CartPole-v1"
    assert {call["match"] for _, call in read_script(path).events("call") if call["acting"]} == {"raw"}


def test_lanes_that_take_no_part_in_a_call_stand_still(tmp_path):
    def program():
        envs = DummyVectorEnv([Pushed] * 3)
        envs.seed(0)
        envs.reset()
        for lanes in ([0, 1, 2], [0, 2], [2]):
            envs.step(np.ones(len(lanes), int), lanes)
        envs.reset([1])
        envs.step(np.ones(3, int))

    _, path = seen(program, tmp_path)
    [stream] = read_script(path).streams
    assert (stream["steps"], stream["resets"], stream["facts"]["instances"]) == (9, 2, 3)
    assert stream["action"]["counts"] == {"1": 9}
    assert np.isfinite(stream["reward"]["mean"])


# ── what users get wrong ──

BUGS = {
    "probabilities as logits": (lambda bug: ppo(cartpole, bug), "network"),
    "the entropy coefficient is negative": (lambda bug: ppo(cartpole, bug), "entropy"),
    "the loss of the critic counts nothing": (lambda bug: ppo(cartpole, bug), "autograd-graph"),
    "a time limit terminates": (lambda bug: ppo(lambda: Pushed(bug), bug), "environment"),
    "the collector adds no noise": (lambda bug: dqn(cartpole, bug), "exploration"),
    "both critics are one": (lambda bug: sac(pendulum, bug), "optimizer"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_fires_when_users_get_it_wrong(bug, tmp_path):
    program, component = BUGS[bug]
    report, _ = seen(lambda: program(bug), tmp_path)
    assert report.suspects, "nothing was found"
    assert report.suspects[0].component == component, [each.message for each in report.roots]


def test_what_is_raised_is_explained(tmp_path):
    watch = watched("run", folder=tmp_path, quiet=True)
    with pytest.raises(RuntimeError, match="does not require grad"), watch:
        dqn(cartpole, "a network without gradients")
    assert watch.report.suspects[0].component == "autograd-graph"
    assert read_run(tmp_path / "run").meta["state"] == "crashed"


# ── what is handed over ──


def step(number, lanes):
    rows = np.full((lanes, 2), number, np.float32)
    return Batch(
        obs=rows,
        act=np.arange(lanes),
        rew=np.full(lanes, float(number)),
        terminated=np.zeros(lanes, bool),
        truncated=np.full(lanes, number == 2),
        obs_next=rows + 1,
        info={},
    )


def test_a_rollout_is_what_every_environment_has_taken():
    buffer = VectorReplayBuffer(20, 2)
    for number in range(3):
        buffer.add(step(number, 2))
    buffer.add(step(3, 1), buffer_ids=[1])
    given = rollout_in(buffer)
    assert given["obs"].shape == (3, 2, 2)
    assert given["reward"].tolist() == [[0, 0], [1, 1], [2, 2]]
    assert given["truncated"].tolist() == [[False, False], [False, False], [True, True]]


def test_nothing_is_handed_over_of_an_environment_that_has_taken_no_step():
    buffer = VectorReplayBuffer(20, 2)
    buffer.add(step(0, 1), buffer_ids=[1])
    assert rollout_in(buffer) == {}


def test_rows_are_drawn_without_the_generators_of_the_program():
    buffer = VectorReplayBuffer(20, 2)
    for number in range(5):
        buffer.add(step(number, 2))
    before = np.random.get_state()[1].copy()
    rows = rows_in(buffer, np.random.default_rng(0))
    assert np.array_equal(before, np.random.get_state()[1])
    assert len(rows["reward"]) == 10
    assert (rows["next_obs"] - rows["obs"] == 1).all()


# ── promises ──


@pytest.mark.parametrize("name", ["PPO", "DQN"])
def test_watching_changes_nothing(name, tmp_path):
    alone = SOUND[name]()
    generators = torch.get_rng_state(), np.random.get_state()[1].copy()
    same = []
    seen(lambda: same.extend(SOUND[name]()), tmp_path)
    assert all(map(torch.equal, alone, same))
    assert torch.equal(generators[0], torch.get_rng_state())
    assert np.array_equal(generators[1], np.random.get_state()[1])


def test_nothing_of_it_is_left_in_the_library(tmp_path):
    from tianshou.data import Collector
    from tianshou.trainer import Trainer

    before = Collector.collect, Trainer.run, DummyVectorEnv.step
    with watched("run", folder=tmp_path, quiet=True):
        assert Collector.collect is not before[0]
    assert (Collector.collect, Trainer.run, DummyVectorEnv.step) == before


def test_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tianshou.trainer", None)
    monkeypatch.delitem(sys.modules, "rldebug.integrations.tianshou")
    with pytest.raises(ImportError, match=r"needs Tianshou 2.*pip install 'rldebug\[tianshou\]'"):
        import rldebug.integrations.tianshou  # noqa: F401
