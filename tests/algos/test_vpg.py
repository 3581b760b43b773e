"""VPG: its updates against the formulas written out over what was played, in one process and in two."""

import copy
import os
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

import rldebug
from rldebug.algos import vpg
from rldebug.checkpoint import TrainingError
from rldebug.parts.distributed import RanksDiffer, World, join, leave, run_ranks
from rldebug.training import Training
from tests.algos.test_a2c import SPACES, Choice, Drawn, Walk, credit, equal_weights, number, play, rows

GIVEN = {"envs": 3, "steps": 9, "hidden": (8,), "lr": 1e-2, "critic_lr": 1e-2, "critic_steps": 4}
UPDATES = 3
ROOT = Path(__file__).parents[2]


def to_go(played, gamma):
    """Rewards-to-go of one environment: of each step, until its episode or the data end."""
    sums = []
    for t in range(len(played)):
        total, weight = 0.0, 1.0
        for _, _, reward, terminated, truncated, _ in played[t:]:
            total += weight * reward
            weight *= gamma
            if terminated or truncated:
                break
        sums.append(total)
    return sums


def written_out(models, played, settings):
    """The twin: trains `models` on what was played, `(T, …)` for each environment of every process."""
    policy, critic = models["policy"], models["critic"]
    optimizer = torch.optim.Adam(policy.parameters(), lr=settings.lr)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=settings.critic_lr)
    for start in range(0, len(played[0]), settings.steps):
        now = [env[start : start + settings.steps] for env in played]
        obs, action = rows(now)
        seen = policy.normalised(obs)
        if settings.baseline:
            value = number(lambda each: critic(policy.normalised(each)))
            credits = [credit(env, value, settings.gamma, settings.lam) for env in now]
            target = torch.tensor(credits).flatten() + critic(seen).detach()
        else:
            credits = [to_go(env, settings.gamma) for env in now]
        advantage = torch.tensor(credits).flatten()
        if settings.normalise_advantage:
            advantage = (advantage - advantage.mean()) / advantage.std(correction=0)
        logp = torch.log_softmax(policy(obs).logits, -1)[torch.arange(len(obs)), action]
        optimizer.zero_grad()
        (-logp * advantage).mean().backward()
        optimizer.step()
        for _ in range(settings.critic_steps if settings.baseline else 0):
            critic_optimizer.zero_grad()
            ((critic(seen) - target) ** 2).mean().backward()
            critic_optimizer.step()
        if policy.norm is not None:
            policy.norm.update(obs)
    return models


@pytest.mark.parametrize(
    "change",
    [{}, {"chunks": 4}, {"chunks": 27, "lam": 0.5}, {"baseline": False}, {"normalise_advantage": False, "chunks": 2}],
    ids=["gae", "chunks", "a-row-at-a-time", "reinforce", "not-normalised"],
)
def test_every_update_is_the_formula_written_out(change, monkeypatch):
    given = {**GIVEN, **change}
    kept, before, played = play("vpg", given, UPDATES, monkeypatch)
    assert any(step[4] and not step[3] for env in played for step in env)  # both kinds of endings were there
    assert any(step[3] for env in played for step in env)
    equal_weights(kept["models"], written_out(before["models"], played, vpg.Settings(**given)), atol=2e-5)


def test_acting_and_learning_see_the_same_normalisation(monkeypatch):
    given = {**GIVEN, "normalise_obs": True}
    kept, before, played = play("vpg", given, UPDATES, monkeypatch)
    equal_weights(kept["models"], written_out(before["models"], played, vpg.Settings(**given)), atol=5e-5)


def test_chunks_leave_nothing_out_and_take_nothing_twice():
    batch = {"obs": {"a": torch.arange(10), "b": torch.arange(20).reshape(10, 2)}, "advantage": torch.arange(10.0)}
    for count in range(1, 11):
        parts = list(vpg.chunked(batch, count))
        assert len(parts) == count
        assert {len(each["advantage"]) for each in parts} <= {10 // count, -(-10 // count)}
        assert torch.equal(torch.cat([each["obs"]["b"] for each in parts]), batch["obs"]["b"])


def test_the_policy_acts_unchanged_until_its_one_step(monkeypatch):
    """Weights while acting, at every backward pass, and at the step: the same, then others."""
    seen, real = [], vpg.step

    def spy(optimizer, parameters, world, scheme):
        before = [each.detach().clone() for each in parameters]
        real(optimizer, parameters, world, scheme)
        seen.append((len(parameters), any(not torch.equal(*each) for each in zip(before, parameters, strict=True))))

    monkeypatch.setattr(vpg, "step", spy)
    _, before, _ = play("vpg", {**GIVEN, "chunks": 5}, UPDATES, monkeypatch)
    policy, critic = (len(list(before["models"][name].parameters())) for name in ("policy", "critic"))
    assert seen == UPDATES * [(policy, True), *GIVEN["critic_steps"] * [(critic, True)]]


def test_on_images_the_features_are_shared_and_only_the_policys_step_moves_them(monkeypatch):
    observations, actions = SPACES["image"]
    policy = vpg.Policy(observations, actions, vpg.Settings())
    critic = vpg.Critic(observations, policy, vpg.Settings())
    obs = torch.from_numpy(np.stack([observations.sample() for _ in range(4)]))
    assert critic.intake is None
    assert torch.equal(critic.sees(obs, policy), policy.features(obs))
    assert critic(critic.sees(obs, policy)).shape == (4,)
    moved, real = [], vpg.step

    def spy(optimizer, parameters, world, scheme):
        trunk = found["models"]["policy"].intake
        before, heads = copy.deepcopy(trunk.state_dict()), copy.deepcopy(found["models"]["critic"].state_dict())
        real(optimizer, parameters, world, scheme)
        moved.append((differ(before, trunk), differ(heads, found["models"]["critic"])))

    def differ(state, module):
        return any(not torch.equal(state[name], now) for name, now in module.state_dict().items())

    found, begin = {}, Training.begin
    monkeypatch.setattr(Training, "begin", lambda self, **kept: (found.update(kept), begin(self, **kept))[1])
    monkeypatch.setattr(vpg, "step", spy)
    given = {"envs": 2, "steps": 4, "critic_steps": 2}
    rldebug.train("vpg", lambda: Drawn(observations, actions), steps=16, settings=given, quiet=True, episodes=1)
    assert moved == 2 * [(True, False), (False, True), (False, True)]


@pytest.mark.parametrize("kind", SPACES)
@pytest.mark.parametrize("record", [False, True], ids=["bare", "recorded"])
def test_it_runs_on_all_kinds_of_spaces(kind, record):
    given = {
        "envs": 2,
        "steps": 4,
        "hidden": (8,),
        "critic_steps": 2,
        "chunks": 2,
        "baseline": kind != "multi-discrete",
    }
    trained = rldebug.train(
        "vpg", lambda: Drawn(*SPACES[kind]), steps=24, settings=given, quiet=True, episodes=2, record=record
    )
    env = Drawn(*SPACES[kind])
    actions = trained.act(gym.vector.utils.batch_space(env.observation_space, 5).sample())
    assert gym.vector.utils.batch_space(env.action_space, 5).contains(actions)
    assert trained.summary.steps == 24


@pytest.mark.parametrize("baseline", [True, False], ids=["critic", "reinforce"])
def test_it_learns_what_to_do_where(baseline):
    given = {"steps": 16, "lr": 2e-2, "critic_steps": 5, "baseline": baseline}
    trained = rldebug.train("vpg", Choice, steps=6_000, settings=given, quiet=True, episodes=50)
    assert np.mean(trained.summary.greedy) > 0.9
    assert trained.act(np.array([[-0.5], [0.5]], np.float32)).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scheme": "allreduce"}, "scheme is 'allreduce', expected 'all-reduce' or 'broadcast'"),
        ({"chunks": 28}, "chunks is 28, expected 1 to 27"),
    ],
    ids=["scheme", "more-chunks-than-rows"],
)
def test_settings_that_cannot_be_are_refused(change, message):
    with pytest.raises(TrainingError, match=message):
        rldebug.train("vpg", Walk, steps=10, settings={**GIVEN, **change}, quiet=True, episodes=1)


@pytest.mark.parametrize("kind", ["dict", "image"])
def test_only_vectors_can_be_normalised(kind):
    with pytest.raises(TrainingError, match="normalise_obs is for vectors of numbers, observations are"):
        rldebug.train(
            "vpg", lambda: Drawn(*SPACES[kind]), steps=10, settings={"normalise_obs": True}, quiet=True, episodes=1
        )


# ── two processes ──

TOGETHER = {**GIVEN, "normalise_obs": True, "chunks": 2}


def as_one_rank(folder):
    """What each of two processes does: a run in each scheme, then one whose second rank drifts away."""
    world, found = join(device="cpu"), {}
    for scheme in vpg.SCHEMES:
        kept, before, played = rank_run({**TOGETHER, "scheme": scheme}, world)
        found[scheme] = {"weights": kept["models"].state_dict(), "before": before.state_dict(), "played": played}
    if not world.first:
        vpg.step = lambda optimizer, parameters, *_: [each.data.add_(1e-3) for each in parameters]
    else:
        vpg.step = lambda *_: None
    try:
        rank_run(TOGETHER, world)
    except RanksDiffer as error:
        found["drift"] = str(error)
    leave()
    torch.save(found, folder / f"{world.rank}.pt")


def rank_run(given, world):
    made, found, begin = [], {}, Training.begin

    def make():
        made.append(Walk())
        return made[-1]

    def spy(self, **kept):
        with torch.no_grad():  # ranks that start from different weights: the first one's count
            for each in kept["models"].parameters():
                each += 0.1 * world.rank
        found.update(kept=kept, before=copy.deepcopy(kept["models"]))
        return begin(self, **kept)

    settings = vpg.Settings(**given)
    steps = UPDATES * world.size * settings.envs * settings.steps
    run = Training("vpg", "Walk", steps=steps, settings=settings, make=make, seed=5, quiet=True, world=world)
    Training.begin = spy
    try:
        vpg.train(run, settings)
    finally:
        Training.begin = begin
    return found["kept"], found["before"], [each.played for each in made]


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """What two ranks found in one go: starting processes is what takes time here."""
    folder = tmp_path_factory.mktemp("pair")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
        assert run_ranks([sys.executable, "-m", "tests.algos.test_vpg", str(folder)], 2) == 0
    return [torch.load(folder / f"{rank}.pt", weights_only=False) for rank in range(2)]


@pytest.mark.parametrize("scheme", vpg.SCHEMES)
def test_two_processes_learn_as_one_would_from_all_that_both_played(pair, scheme):
    first, second = (each[scheme] for each in pair)
    assert not torch.equal(rows(first["played"])[0], rows(second["played"])[0])
    for name, mine in first["weights"].items():
        assert torch.equal(mine, second["weights"][name]), name
    settings = vpg.Settings(**TOGETHER)
    policy = vpg.Policy(Walk.observation_space, Walk.action_space, settings)
    twin = nn.ModuleDict({"policy": policy, "critic": vpg.Critic(Walk.observation_space, policy, settings)})
    twin.load_state_dict(first["before"])
    written_out(twin, first["played"] + second["played"], settings)
    for name, theirs in twin.state_dict().items():
        torch.testing.assert_close(
            first["weights"][name], theirs, atol=5e-5, rtol=0, msg=lambda text, name=name: name + text
        )


def test_a_process_that_drifts_away_is_noticed_by_all_after_the_update(pair):
    for each in pair:
        assert "the weights of rank 1 differ from those of rank 0: first in policy." in each["drift"]


def test_alone_it_asks_nobody(monkeypatch):
    """Without other processes no collective is called: there is no process group to call it in."""
    assert not torch.distributed.is_initialized()
    optimizer = torch.optim.SGD([weight := nn.Parameter(torch.ones(2))], lr=1.0)
    weight.grad = torch.tensor([0.25, 0.5])
    for scheme in vpg.SCHEMES:
        vpg.step(optimizer, [weight], World(), scheme)
    assert weight.tolist() == [0.5, 0.0]


if __name__ == "__main__":
    as_one_rank(Path(sys.argv[1]))
