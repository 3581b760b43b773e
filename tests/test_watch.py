"""Watching a loop by hand: whatever the order of its calls, each reading lands on the update it belongs to."""

import math
import threading
import time

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Categorical

import rldebug
from rldebug.evidence.run import Run, read_run

MANY = 300  # updates: past the dense start of the schedule


class Learner:
    """Steps whose readings give away their number: in step k all gradients are k + 1, the rate (k + 1)/1000."""

    def __init__(self, optimizers=1, kind=torch.optim.SGD):
        self.nets = [nn.Linear(3, 1, bias=False) for _ in range(optimizers)]
        self.optimizers = [kind(net.parameters(), lr=1.0) for net in self.nets]
        self.count = [0] * optimizers

    def backward(self, which=0):
        k = self.count[which]
        self.optimizers[which].zero_grad()
        ((k + 1) * self.nets[which].weight.sum()).backward()

    def step(self, which=0):
        k = self.count[which]
        self.optimizers[which].param_groups[0]["lr"] = (k + 1) / 1000
        self.count[which] += 1
        self.optimizers[which].step()

    def learn(self, which=0):
        self.backward(which)
        self.step(which)


def number_of(k):
    return {"marker": torch.tensor(float(k))}


def assert_aligned(run: Run, at_least=32, suffix="", step_of=lambda k: k):
    """Step readings on line k are those of step `step_of(k)`, and the loss on line k is that of update k."""
    lr, grad, loss = run[f"optimizer/lr{suffix}"], run[f"grad/norm{suffix}"], run["loss/marker"]
    assert len(lr) >= at_least, f"{len(lr)} steps were recorded"
    assert len(lr) == len(grad)
    for update, rate, norm in zip(lr.update, lr.value, grad.value, strict=True):
        assert rate * 1000 == pytest.approx(step_of(update) + 1, rel=1e-6), f"update {update}"
        assert norm == pytest.approx((step_of(update) + 1) * math.sqrt(3), rel=1e-6), f"update {update}"
    for update, value in zip(loss.update, loss.value, strict=True):
        assert value == update
    updates = [each.update for each in run.readings]
    assert updates == sorted(set(updates))


def watched(learner, folder, optimizer=None, **more):
    given = learner.optimizers if optimizer is None else optimizer
    given = given[0] if isinstance(given, list) and len(given) == 1 else given
    return rldebug.watch(policy=learner.nets[0], optimizer=given, folder=folder, quiet=True, **more)


def finished(dbg) -> Run:
    dbg.close()
    assert not dbg.broken, dbg.broken
    run = read_run(dbg.path)
    assert not run.problems, run.problems
    return run


# ── one optimizer ───────────────────────────────────────────────────────────────────────────────────────────────────


def update_before_backward(learner, dbg, k):
    dbg.update(loss=number_of(k))
    learner.backward()
    learner.step()


def update_between_backward_and_step(learner, dbg, k):
    learner.backward()
    dbg.update(loss=number_of(k))
    learner.step()


def update_after_step(learner, dbg, k):
    learner.backward()
    learner.step()
    dbg.update(loss=number_of(k))


def update_after_step_elsewhere(learner, dbg, k):
    def report():
        dbg.update(loss=number_of(k))

    learner.learn()
    report()


def update_in_the_loss_function(learner, dbg, k):
    def loss():
        dbg.update(loss=number_of(k))

    loss()
    learner.learn()


ORDERS = [
    update_before_backward, update_between_backward_and_step, update_after_step, update_after_step_elsewhere,
    update_in_the_loss_function,
]  # fmt: skip


@pytest.mark.parametrize("schedule", [{}, {"every": 1, "detail": 1}], ids=["default", "dense"])
@pytest.mark.parametrize("order", ORDERS, ids=lambda each: each.__name__)
def test_steps_land_on_their_update(order, schedule, tmp_path):
    learner = Learner()
    dbg = watched(learner, tmp_path, **schedule)
    for k in range(MANY):
        assert dbg.age == k
        order(learner, dbg, k)
    run = finished(dbg)
    assert_aligned(run, at_least=MANY if schedule else 60)
    assert run["loss/marker"].update.tolist() == run["optimizer/lr"].update.tolist()
    assert dbg.age == MANY
    assert run.meta["updates"] == MANY
    assert run.meta["steps"] == {"optimizer": MANY}


@pytest.mark.parametrize("order", [update_before_backward, update_after_step])
def test_the_first_step_may_be_skipped(order, tmp_path):
    """As a GradScaler does with its first, too large scale: nothing but the code then tells which order this is."""
    learner = Learner()
    step = learner.step
    learner.step = lambda: step() if dbg.age > 3 else None
    learner.count[0] = 4 if order is update_after_step else 3  # the update at which the first real step is taken
    dbg = watched(learner, tmp_path, every=1)
    for k in range(40):
        order(learner, dbg, k)
    assert_aligned(finished(dbg))


def test_pretraining_without_updates_does_not_confuse_the_order(tmp_path):
    for order in (update_before_backward, update_after_step):
        learner = Learner()
        dbg = watched(learner, tmp_path, every=1)
        for _ in range(20):
            learner.learn()
        start = dbg.age
        assert start == 20
        for k in range(start, start + 40):
            order(learner, dbg, k)
        run = finished(dbg)
        step_of = {reading.update: round(reading.numbers["optimizer/lr"] * 1000) - 1 for reading in run.readings[:20]}
        assert step_of == {k: k for k in range(20)}
        both = [each.numbers for each in run.readings if {"optimizer/lr", "loss/marker"} <= {*each.numbers}]
        assert len(both) >= 39
        assert all(round(each["optimizer/lr"] * 1000) - 1 == each["loss/marker"] for each in both)


def test_readings_survive_the_switch_to_the_cheap_path(tmp_path):
    """After some two thousand updates those that are not recorded are only counted."""
    for order in (update_before_backward, update_after_step):
        learner = Learner()
        dbg = watched(learner, tmp_path)
        for k in range(3000):
            order(learner, dbg, k)
        run = finished(dbg)
        assert_aligned(run, at_least=100)
        assert run["optimizer/lr"].update[-1] > 2800


# ── gradient accumulation ───────────────────────────────────────────────────────────────────────────────────────────


def test_accumulation_with_an_update_per_step(tmp_path):
    learner = Learner()
    dbg = watched(learner, tmp_path)
    for k in range(MANY):
        learner.optimizers[0].zero_grad()
        for _ in range(4):
            ((k + 1) / 4 * learner.nets[0].weight.sum()).backward()
        dbg.update(loss=number_of(k))
        learner.step()
    run = finished(dbg)
    assert_aligned(run, at_least=60)
    assert all(fact == {"optimizer": True} for _, fact in run.facts("zeroing"))


@pytest.mark.parametrize("step_first", [False, True])
def test_accumulation_with_an_update_per_micro_batch(step_first, tmp_path):
    learner = Learner()
    dbg = watched(learner, tmp_path, every=1)
    for k in range(160):
        if k % 4 == 0:
            learner.optimizers[0].zero_grad()
        ((k // 4 + 1) / 4 * learner.nets[0].weight.sum()).backward()
        if step_first and k % 4 == 3:
            learner.step()
        dbg.update(loss=number_of(k))
        if not step_first and k % 4 == 3:
            learner.step()
    run = finished(dbg)
    assert set(run["optimizer/lr"].update % 4) == {3}
    assert_aligned(run, at_least=40, step_of=lambda update: update // 4)
    assert len(run["loss/marker"]) == 160
    assert all(fact == {"optimizer": True} for _, fact in run.facts("zeroing"))


# ── several optimizers ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("schedule", [{}, {"every": 1}], ids=["default", "dense"])
@pytest.mark.parametrize("updates_at", [0, 1, 2, 3], ids=["first", "second", "third", "last"])
@pytest.mark.parametrize("named", [False, True], ids=["list", "dict"])
def test_three_optimizers_with_the_update_anywhere_among_them(named, updates_at, schedule, tmp_path):
    learner = Learner(3)
    names = ["actor", "q1", "q2"] if named else ["optimizer0", "optimizer1", "optimizer2"]
    given = dict(zip(names, learner.optimizers, strict=True)) if named else learner.optimizers
    dbg = watched(learner, tmp_path, optimizer=given, **schedule)
    for k in range(MANY):
        if updates_at == 0:
            dbg.update(loss=number_of(k))
        learner.learn(0)
        if updates_at == 1:
            dbg.update(loss=number_of(k))
        learner.learn(1)
        if updates_at == 2:
            dbg.update(loss=number_of(k))
        learner.learn(2)
        if updates_at == 3:
            dbg.update(loss=number_of(k))
    run = finished(dbg)
    for name in names:
        assert_aligned(run, at_least=MANY if schedule else 60, suffix=f"@{name}")
    assert run.meta["optimizers"] == dict.fromkeys(names, "SGD")
    assert run.meta["steps"] == dict.fromkeys(names, MANY)


@pytest.mark.parametrize("after", [False, True], ids=["update-first", "step-first"])
def test_a_delayed_actor_steps_every_other_update(after, tmp_path):
    learner = Learner(2)
    dbg = watched(
        learner, tmp_path, optimizer={"critic": learner.optimizers[0], "actor": learner.optimizers[1]}, every=1
    )
    for k in range(120):
        if not after:
            dbg.update(loss=number_of(k))
        learner.learn(0)
        if k % 2:
            learner.learn(1)
        if after:
            dbg.update(loss=number_of(k))
    run = finished(dbg)
    assert_aligned(run, at_least=120, suffix="@critic")
    assert_aligned(run, at_least=60, suffix="@actor", step_of=lambda update: update // 2)
    assert set(run["optimizer/lr@actor"].update % 2) == {1}


def test_one_update_per_optimizer(tmp_path):
    """REINFORCE with a baseline: an update for the policy, then five for the baseline, each with its own step."""
    learner = Learner(2)
    names = {"policy": learner.optimizers[0], "baseline": learner.optimizers[1]}
    dbg = watched(learner, tmp_path, optimizer=names, every=1)
    k = 0
    for _ in range(20):
        dbg.update(loss=number_of(k))
        learner.learn(0)
        k += 1
        for _ in range(5):
            dbg.update(loss=number_of(k))
            learner.learn(1)
            k += 1
    run = finished(dbg)
    assert_aligned(run, at_least=20, suffix="@policy", step_of=lambda update: update // 6)
    assert_aligned(run, at_least=100, suffix="@baseline", step_of=lambda update: update - update // 6 - 1)
    assert set(run["optimizer/lr@policy"].update % 6) == {0}


def test_two_watches_at_once(tmp_path):
    one, two = Learner(), Learner()
    first = watched(one, tmp_path, every=1)
    second = watched(two, tmp_path, every=1)
    assert first.path != second.path
    for k in range(40):
        update_before_backward(one, first, k)
        if k % 2:
            update_after_step(two, second, k // 2)
    assert_aligned(finished(first), at_least=40)
    assert_aligned(finished(second), at_least=20)


# ── loops that hand over less ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("optimizers", [1, 2, 3])
@pytest.mark.parametrize("schedule", [{}, {"every": 1}], ids=["default", "dense"])
def test_without_update_the_optimizer_steps_are_the_clock(optimizers, schedule, tmp_path):
    learner = Learner(optimizers)
    dbg = watched(learner, tmp_path, **schedule)
    for k in range(MANY):
        for which in range(optimizers):
            learner.learn(which)
        assert dbg.age in ((k, k + 1) if k == 0 else (k + 1,))
    run = finished(dbg)
    for which in range(optimizers):
        suffix = f"@optimizer{which}" if optimizers > 1 else ""
        assert_aligned(run, at_least=MANY if schedule else 60, suffix=suffix)
    assert run.updates <= MANY
    assert run.meta["steps"] == dict.fromkeys(run.meta["optimizers"], MANY)
    assert run.facts("parameters")


def test_without_update_layers_are_seen_and_left_alone_in_between(tmp_path):
    net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(net.parameters())
    x = torch.randn(32, 3)
    hooked = 0
    with rldebug.watch(policy=net, optimizer=optimizer, folder=tmp_path, quiet=True) as dbg:
        for _ in range(400):
            hooked += bool(net[0]._forward_hooks)
            optimizer.zero_grad()
            net(x).square().mean().backward()
            optimizer.step()
    run = read_run(dbg.path)
    assert not dbg.broken
    assert run.table("layers")
    assert hooked < 100, "the hooks stay on although no reading needs them"


@pytest.mark.parametrize("with_env", [False, True])
def test_only_rollouts(with_env, tmp_path):
    env = gym.make("CartPole-v1") if with_env else None
    with rldebug.watch(env=env, folder=tmp_path, quiet=True) as dbg:
        if env is not None:
            env.reset(seed=0)
        for k in range(400):
            for _ in range(4):
                if env is not None and any(env.step(k % 2)[2:4]):
                    env.reset()
            dbg.rollout(reward=torch.full((4, 2), float(k)), terminated=torch.zeros(4, 2), epsilon=0.5)
    assert not dbg.broken, dbg.broken
    run = read_run(dbg.path)
    reward = run["reward/mean"]
    assert reward.update.tolist() == reward.value.tolist(), "a rollout is numbered by the rollouts before it"
    assert 50 <= len(reward) <= 250, "rollouts that are the only clock are sampled like updates"
    assert reward.env_step.tolist() == [(each + 1) * (4 if with_env else 8) for each in reward.update.tolist()]


def test_updates_after_rollouts_start_their_own_clock(tmp_path):
    """No optimizer is given: rollouts count until the first update comes."""
    with rldebug.watch(folder=tmp_path, quiet=True, every=1) as dbg:
        for _ in range(200):
            dbg.rollout(reward=torch.ones(4))
        for k in range(20):
            dbg.update(loss=number_of(k))
    run = read_run(dbg.path)
    assert run["loss/marker"].update.tolist() == list(range(20))


def test_only_an_env(tmp_path):
    env = gym.make("CartPole-v1")
    with rldebug.watch(env=env, folder=tmp_path, quiet=True) as dbg:
        env.action_space.seed(0)
        env.reset(seed=0)
        for _ in range(5000):
            *_, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                env.reset()
    assert not dbg.broken, dbg.broken
    run = read_run(dbg.path)
    assert len(run.readings) >= 4, "an environment alone is worth reading now and then"
    assert run["episode/steps"].value.sum() == 5000
    assert run["episode/steps"].env_step[-1] == 5000
    assert run["episode/count"].value.sum() > 100
    assert [each.update for each in run.readings] == list(range(len(run.readings)))


def test_nothing_at_all(tmp_path):
    with rldebug.watch(folder=tmp_path, quiet=True) as dbg:
        pass
    assert dbg.close().clean
    assert read_run(dbg.path).meta["state"] == "finished"


def test_everything_missing_is_listed_with_what_it_would_enable(tmp_path):
    learner = Learner()
    dbg = watched(learner, tmp_path)
    for k in range(20):
        update_before_backward(learner, dbg, k)
    report = dbg.close()
    assert report.skipped
    assert any("dbg.rollout" in reason for reason in report.skipped.values())
    assert any("logp_new=" in reason or "dbg.update" in reason for reason in report.skipped.values())


# ── what rollouts may look like ─────────────────────────────────────────────────────────────────────────────────────

T, B = 6, 3
RNG = np.random.default_rng(0)
REWARD, VALUE = RNG.normal(size=(T, B)), RNG.normal(size=(T, B))
ENDS = RNG.random((T, B)) < 0.3


def as_torch(x):
    return torch.as_tensor(x)


def as_float32(x):
    return torch.as_tensor(x, dtype=torch.float32) if x.dtype.kind == "f" else torch.as_tensor(x)


def as_lists_of_tensors(x):
    return [torch.as_tensor(row) for row in x]


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def backwards(x):
    return x[::-1].copy()[::-1]  # a view with a negative stride


CONTAINERS = [np.asarray, as_torch, as_float32, np.ndarray.tolist, as_lists_of_tensors, read_only, backwards]
FLAGS = [np.bool_, np.uint8, np.float32, np.int64]


def first_reading(tmp_path, **arrays):
    with rldebug.watch(folder=tmp_path, quiet=True, every=1, detail=1) as dbg:
        dbg.rollout(**arrays)
    assert not dbg.broken, dbg.broken
    return read_run(dbg.path).readings[0]


@pytest.mark.parametrize("flag", FLAGS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("container", CONTAINERS, ids=lambda each: each.__name__)
def test_containers_and_flags_give_the_same_readings(container, flag, tmp_path):
    obs, action = RNG.normal(size=(T, B, 2)), RNG.integers(0, 2, (T, B))
    plain = first_reading(
        tmp_path, reward=REWARD, value=VALUE, terminated=ENDS, truncated=~ENDS, obs=obs, action=action
    )
    other = first_reading(
        tmp_path,
        reward=container(REWARD),
        value=container(VALUE),
        terminated=container(ENDS.astype(flag)),
        truncated=container((~ENDS).astype(flag)),
        obs=container(obs),
        action=container(action),
    )
    assert other.env_step == plain.env_step == T * B
    assert {*other.numbers} == {*plain.numbers}
    for name, value in plain.numbers.items():
        if name.split("/")[0] not in ("pace", "host"):
            assert other.numbers[name] == pytest.approx(value, rel=1e-4, abs=1e-5, nan_ok=True), name


@pytest.mark.parametrize("shape", [(T,), (T, 1), (T, B), (T, B, 1)], ids=str)
def test_shapes_of_rollouts(shape, tmp_path):
    envs = math.prod(shape[1:])
    reward = np.arange(T * envs, dtype=float).reshape(shape)
    ends = np.zeros(shape, bool)
    ends[-1] = True
    obs = RNG.normal(size=(*shape[:2], 5) if len(shape) > 1 else (T, 5))
    reading = first_reading(tmp_path, reward=reward, terminated=ends, value=reward, obs=obs, logp=-reward)
    assert reading.numbers["rollout/steps"] == T * envs
    assert reading.numbers["reward/mean"] == pytest.approx(reward.mean())
    assert reading.numbers["rollout/terminated"] == pytest.approx(1 / T)
    assert reading.env_step == T * envs


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_the_smallest_rollouts_and_updates(rows, tmp_path):
    """One step of one environment, a batch of one row: statistics are undefined, not warned about."""
    net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))
    optimizer = torch.optim.Adam(net.parameters())
    with rldebug.watch(
        policy=net, critic=net, optimizer=optimizer, folder=tmp_path, quiet=True, every=1, detail=1
    ) as dbg:
        for _ in range(12):
            obs = torch.randn(rows, 2)
            ones, flags = torch.ones(rows), torch.zeros(rows, dtype=torch.bool)
            logits = net(obs)
            dist = Categorical(logits=logits)
            logp = dist.log_prob(torch.zeros(rows))
            ends = {"terminated": flags, "truncated": flags}
            actions = torch.zeros(rows, dtype=torch.long)
            dbg.rollout(obs=obs, action=actions, reward=ones, value=ones, logp=logp.detach(), **ends)
            dbg.replay(obs=obs, action=actions, reward=ones, next_obs=obs + 1, **ends)
            loss = -logp.mean()
            dbg.update(
                loss=loss, logp_old=logp.detach(), logp_new=logp, value=logits[:, 0], target=ones, advantage=ones,
                dist=dist, dist_old=dist, mask=torch.ones(rows, 2, dtype=torch.bool), clip=0.2, collected_at=ones * 0,
            )  # fmt: skip
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        dbg.report()
    assert not dbg.broken, dbg.broken


def test_episodes_of_ever_new_lengths(tmp_path):
    """REINFORCE: python lists, another length each time. Every step counts, and memory does not grow."""
    learner = Learner()
    dbg = watched(learner, tmp_path)
    steps = 0
    for k in range(1100):
        length = 1 + (k * 7919) % 1409
        steps += length
        dbg.rollout(reward=[0.5] * length, terminated=[False] * (length - 1) + [True])
        dbg.update(loss=number_of(k), advantage=torch.full((length,), float(length)))
        learner.learn()
    assert len(dbg._checked) <= 1001
    run = finished(dbg)
    assert run.meta["env_steps"] == steps
    for reading in run.readings:
        length = 1 + (reading.update * 7919) % 1409
        assert reading.numbers["rollout/steps"] == length
        assert reading.numbers["advantage/mean"] == pytest.approx(length)
    assert_aligned(run, at_least=60)


def test_nested_lists_count_all_their_steps(tmp_path):
    with rldebug.watch(folder=tmp_path, quiet=True) as dbg:
        dbg.rollout(reward=REWARD.tolist())
        dbg.rollout(reward=[torch.ones(B)] * T)
        dbg.rollout(reward=REWARD.tolist()[:4])
    assert read_run(dbg.path).meta["env_steps"] == (2 * T + 4) * B


def test_nan_is_data(tmp_path):
    bad = torch.tensor([1.0, math.nan, math.inf, -math.inf, 0.0])
    learner = Learner()
    dbg = watched(learner, tmp_path, every=1, detail=1)
    for k in range(6):
        dbg.rollout(reward=bad, value=bad, logp=bad, obs=bad, terminated=bad.isnan())
        dbg.update(
            loss={"marker": torch.tensor(float(k)), "policy": torch.tensor(math.nan), "value": math.inf},
            value=bad, target=bad, advantage=bad, logp_new=bad, logp_old=bad, kl=bad, entropy=bad,
        )  # fmt: skip
        dbg.metric("mine", math.nan)
        learner.learn()
    run = finished(dbg)
    assert_aligned(run, at_least=6)
    assert np.isnan(run["loss/policy"].value).all()
    assert np.isposinf(run["loss/value"].value).all()
    assert np.isnan(run["reward/mean"].value).all()
    assert np.isnan(run["user/mine"].value).all()
    assert dbg.close().findings, "a loss that is not a number is worth a word"


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_staleness_from_collected_at(tmp_path):
    learner = Learner()
    dbg = watched(learner, tmp_path, every=1)
    born = []
    for k in range(40):
        born.append(dbg.age)
        rows = np.array(born)
        dbg.update(loss=number_of(k), value=torch.zeros(len(rows)), collected_at=rows)
        learner.learn()
    run = finished(dbg)
    assert run["batch/staleness_max"].value.tolist() == list(range(40))
    assert run["batch/staleness_mean"].value == pytest.approx(np.arange(40) / 2, rel=1e-6)
    assert run["batch/rows"].value.tolist() == list(range(1, 41))


def test_staleness_from_the_last_rollout(tmp_path):
    learner = Learner()
    dbg = watched(learner, tmp_path, every=1)
    for k in range(32):
        if k % 8 == 0:
            dbg.rollout(reward=torch.ones(16))
        dbg.update(loss=number_of(k), value=torch.zeros(4))
        learner.learn()
    run = finished(dbg)
    assert run["batch/staleness_mean"].value.tolist() == [k % 8 for k in range(32)]
    assert run["rollout/steps"].update.tolist() == [0, 8, 16, 24]


@pytest.mark.parametrize("schedule", [{}, {"every": 1}], ids=["default", "dense"])
def test_pace_counts_everything_once(schedule, tmp_path, monkeypatch):
    """Rates times the seconds they were taken over add up to all updates, env steps and samples until the last line."""
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    learner = Learner()
    dbg = watched(learner, tmp_path, **schedule)
    for k in range(MANY):
        clock[0] += 0.25
        dbg.rollout(reward=torch.ones(8, 2))
        dbg.update(loss=number_of(k), advantage=torch.ones(32))
        learner.learn()
    clock[0] += 0.25
    run = finished(dbg)
    seconds = np.array([reading.seconds for reading in run.readings])
    spans = np.diff(seconds, prepend=0.0)
    last = run.readings[-1].update + 1
    assert (run["pace/updates"].value * spans).sum() == pytest.approx(last)
    assert (run["pace/samples"].value * spans).sum() == pytest.approx(32 * last)
    assert (run["pace/env_steps"].value * spans).sum() == pytest.approx(run.readings[-1].env_step)
    assert run["pace/reuse"].value[1:] == pytest.approx(2.0, rel=0.6)
    assert run["pace/updates"].value[1:] == pytest.approx(4.0)  # the first line also spans the start


def test_a_number_of_your_own(tmp_path):
    learner = Learner()
    dbg = watched(learner, tmp_path, every=1)
    for k in range(20):
        dbg.metric("mine", k)
        dbg.metric("depth/mine", torch.tensor([k * 2.0]))
        if k == 7:
            dbg.metric("once %", np.float32(0.5))
        update_after_step(learner, dbg, k)
    run = finished(dbg)
    assert run["user/mine"].value.tolist() == list(range(20))
    assert run["depth/mine"].value.tolist() == [2 * k for k in range(20)]
    assert run["user/once %"].update.tolist() == [7]


def test_a_number_set_between_readings_waits_for_the_next(tmp_path):
    learner = Learner()
    dbg = watched(learner, tmp_path)
    for k in range(MANY):
        dbg.metric("mine", k)
        update_after_step(learner, dbg, k)
    mine = finished(dbg)["user/mine"]
    assert mine.value.tolist() == mine.update.tolist()


def test_losses_by_their_usual_names(tmp_path):
    with rldebug.watch(folder=tmp_path, quiet=True) as dbg:
        dbg.update(loss={"pi": 1.0, "vf": torch.tensor([[2.0]]), "extra": None, "bonus": np.float64(3.0)})
        dbg.update(loss=4)
    numbers = [{k: v for k, v in each.numbers.items() if k.startswith("loss/")} for each in read_run(dbg.path).readings]
    assert numbers == [{"loss/policy": 1.0, "loss/value": 2.0, "loss/bonus": 3.0}, {"loss/total": 4.0}]


# ── wrong things handed over ────────────────────────────────────────────────────────────────────────────────────────

FIVE = torch.ones(5)
WRONG_ROLLOUTS = [
    ({"reward": torch.ones(5, 2), "value": torch.ones(5, 3)}, ["value", "(5, 3)", "(5, 2)", "expected"]),
    ({"reward": torch.ones(4, 5), "terminated": torch.ones(5, 4)}, ["terminated", "(5, 4)", "(4, 5)", "expected"]),
    ({"reward": torch.ones(5, 2, 3)}, ["reward", "(5, 2, 3)", "(T, B)"]),
    ({"reward": torch.tensor(1.0)}, ["reward", "()", "(T,)"]),
    ({"reward": FIVE, "obs": torch.ones(4, 3)}, ["obs", "(4, 3)", "(5,)"]),
    ({"reward": FIVE, "obs": {"pixels": torch.ones(5, 3)}}, ["obs", "dict", "expected"]),
    ({"reward": FIVE, "obs": (np.ones(3), np.ones(4))}, ["obs", "expected"]),
    ({"reward": ["high", "low"]}, ["reward", "list", "numbers"]),
    ({"reward": [object()]}, ["reward", "list", "numbers"]),
    ({"reward": FIVE.to(torch.complex64)}, ["reward", "complex64", "real"]),
    ({"logp": torch.ones(5, dtype=torch.long)}, ["logp", "int64", "floating-point"]),
    ({"logp": [1, 2, 3]}, ["logp", "int64", "floating-point"]),
    ({"reward": FIVE, "epsilon": "small"}, ["epsilon", "str", "number"]),
    ({"reward": FIVE, "epsilon": torch.ones(2)}, ["epsilon", "Tensor", "number"]),
]
WRONG_UPDATES = [
    ({"value": torch.ones(5), "target": torch.ones(4)}, ["target", "(4,)", "(5,)", "expected"]),
    ({"logp_new": torch.ones(5), "logp_old": torch.ones(5, 2)}, ["logp_new", "(5, 2)", "(5,)", "expected"]),
    ({"value": {"q1": FIVE}}, ["value", "dict", "expected"]),
    ({"value": ["a", "b"]}, ["value", "list", "numbers"]),
    ({"advantage": FIVE.to(torch.complex64)}, ["advantage", "complex64", "real"]),
    ({"logp_new": torch.ones(5, dtype=torch.int32)}, ["logp_new", "int32", "floating-point"]),
    ({"loss": torch.ones(5)}, ["loss", "(5,)", "scalar"]),
    ({"loss": {"policy": torch.ones(5, 1)}}, ["'policy'", "(5, 1)", "scalar"]),
    ({"loss": {"policy": "small"}}, ["'policy'", "str", "expected"]),
    ({"loss": [torch.tensor(1.0), torch.tensor(2.0)]}, ["loss", "list", "expected"]),
    ({"loss": torch.tensor(1j)}, ["loss", "complex64", "real"]),
    ({"dist": torch.ones(5, 2)}, ["dist", "Tensor", "torch.distributions"]),
    ({"dist_old": "normal"}, ["dist_old", "str", "torch.distributions"]),
    ({"dist": Categorical(logits=torch.ones(4, 2)), "value": FIVE}, ["dist", "(4,)", "5 rows"]),
    ({"logits": torch.ones(4, 2), "value": FIVE}, ["dist", "(4,)", "5 rows"]),
    ({"logits": torch.ones(5)}, ["logits", "(5,)", "(rows, actions)"]),
    ({"logits": torch.ones(5, 2, dtype=torch.long)}, ["logits", "int64", "floating-point"]),
    ({"clip": "0.2"}, ["clip", "str", "number"]),
]
WRONG_REPLAYS = [
    ({"obs": torch.ones(5, 2), "next_obs": torch.ones(4, 2)}, ["next_obs", "(4, 2)", "5 rows"]),
    ({"reward": torch.ones(5, 3)}, ["reward", "(5, 3)", "(N,)"]),
    ({"obs": {"pixels": FIVE}}, ["obs", "dict", "expected"]),
    ({"reward": torch.tensor(1.0)}, ["reward", "()", "(N,)"]),
]
WRONG = (
    [("rollout", *each) for each in WRONG_ROLLOUTS]
    + [("update", *each) for each in WRONG_UPDATES]
    + [("replay", *each) for each in WRONG_REPLAYS]
)


@pytest.mark.parametrize(("call", "given", "words"), WRONG, ids=[f"{each[0]}-{'-'.join(each[1])}" for each in WRONG])
def test_what_is_wrong_is_said_at_the_call(call, given, words, tmp_path):
    with rldebug.watch(folder=tmp_path, quiet=True) as dbg:
        with pytest.raises(rldebug.HandoverError) as caught:
            getattr(dbg, call)(**given)
        message = str(caught.value)
        assert message.startswith(f"dbg.{call}(...)")
        for word in words:
            assert word in message, message
        dbg.update(loss=1.0)  # and the watch goes on
    assert not dbg.broken, dbg.broken
    assert len(read_run(dbg.path).readings) == 1


def test_an_unknown_argument_is_a_type_error(tmp_path):
    with rldebug.watch(folder=tmp_path, quiet=True) as dbg:
        for call in (dbg.rollout, dbg.update, dbg.replay):
            with pytest.raises(TypeError, match="done"):
                call(done=FIVE)
    with pytest.raises(TypeError, match="model"):
        rldebug.watch(model=nn.Linear(1, 1))


@pytest.mark.parametrize(
    "value", ["high", None, torch.ones(2), 1j, torch.tensor(1j), [1.0], object()], ids=lambda each: type(each).__name__
)
def test_a_metric_that_is_no_number(value, tmp_path):
    with rldebug.watch(folder=tmp_path, quiet=True) as dbg, pytest.raises(rldebug.HandoverError, match="mine"):
        dbg.metric("mine", value)
    with pytest.raises(rldebug.HandoverError, match="name"):
        dbg.metric(3, 1.0)


def test_wrong_objects_to_watch_are_said_at_once(tmp_path):
    for wrong, word in (
        ({"policy": torch.ones(3)}, "Module"),
        ({"critic": lambda x: x}, "Module"),
        ({"optimizer": nn.Linear(1, 1)}, "Optimizer"),
        ({"optimizer": [torch.optim.SGD([torch.ones(1, requires_grad=True)]), 3]}, "Optimizer"),
        ({"env": object()}, "step"),
    ):
        with pytest.raises(TypeError, match=word):
            rldebug.watch(folder=tmp_path, quiet=True, **wrong)
    assert not list(tmp_path.iterdir()), "a watch that did not begin leaves no folder behind"


def test_two_devices_at_once(tmp_path):
    """Tensors of two accelerators, as a fake: no such machine is needed to see that they are refused."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode(allow_non_fake_inputs=True):
        one, two = torch.empty(5, device="cuda:0"), torch.empty(5, device="cuda:1")
    with rldebug.watch(folder=tmp_path, quiet=True) as dbg:
        for call, given in ((dbg.rollout, {"reward": one, "value": two}), (dbg.update, {"target": one, "value": two})):
            with pytest.raises(rldebug.HandoverError, match="one device") as caught:
                call(**given)
            assert "value on cuda:1" in str(caught.value)
    assert not dbg.broken


# ── networks of every kind ──────────────────────────────────────────────────────────────────────────────────────────


class Odd(nn.Module):
    """Frozen parameters, a buffer, a module of buffers only, a layer that is made on first use."""

    def __init__(self):
        super().__init__()
        self.frozen = nn.Linear(3, 3).requires_grad_(False)
        self.norm = nn.BatchNorm1d(3, affine=False)
        self.register_buffer("scale", torch.ones(3))
        self.lazy = nn.LazyLinear(4)
        self.later = None

    def forward(self, x):
        x = self.lazy(self.norm(self.frozen(x)) * self.scale)
        return x if self.later is None else self.later(x)


def test_odd_networks(tmp_path):
    policy, buffers = Odd(), nn.BatchNorm1d(2, affine=False)
    optimizer = torch.optim.Adam(policy.parameters())
    with rldebug.watch(
        policy=policy,
        critic=policy,
        target=buffers,
        optimizer=optimizer,
        folder=tmp_path,
        quiet=True,
        every=1,
        detail=1,
    ) as dbg:
        for k in range(12):
            if k == 6:  # a new head, in the optimizer's second group
                policy.later = nn.Linear(4, 2)
                optimizer.add_param_group({"params": policy.later.parameters(), "lr": 0.5})
            loss = policy(torch.randn(8, 3)).square().mean()
            dbg.update(loss=loss)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert not dbg.broken, dbg.broken
    run = read_run(dbg.path)
    assert len(run["grad/norm"]) == 12
    assert run["grad/missing"].value.tolist() == [2] * 12, "the frozen ones"
    tables = run.table("parameters")
    assert "policy.later.weight" not in tables[0][1]
    assert "policy.later.weight" in tables[-1][1]
    audit = run.facts("parameters")[0][1]["modules"]
    assert audit["policy"]["frozen"] == ["policy.frozen.weight", "policy.frozen.bias"]
    assert audit["target"]["numel"] == 0


def test_a_shared_trunk_is_named_once(tmp_path):
    trunk = nn.Linear(3, 4)
    policy, critic = nn.Sequential(trunk, nn.Linear(4, 2)), nn.Sequential(trunk, nn.Linear(4, 1))
    optimizer = torch.optim.SGD({*policy.parameters(), *critic.parameters()}, lr=0.1)
    with rldebug.watch(policy=policy, critic=critic, optimizer=optimizer, folder=tmp_path, quiet=True) as dbg:
        x = torch.randn(8, 3)
        losses = {"policy": policy(x).mean(), "value": critic(x).mean()}
        dbg.update(loss=losses)
        sum(losses.values()).backward()
        optimizer.step()
    run = read_run(dbg.path)
    assert sorted(run.table("parameters")[0][1]) == [
        "critic.1.bias", "critic.1.weight", "policy.0.bias", "policy.0.weight", "policy.1.bias", "policy.1.weight",
    ]  # fmt: skip
    assert run.facts("parameters")[0][1]["shared"] == 2
    reach = run.facts("reach")[0][1]
    assert reach["policy"]["critic"] == {"reached": 2, "of": 4, "missing": ["critic.1.weight", "critic.1.bias"]}


# ── after close() ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_after_close_every_call_is_harmless(tmp_path):
    net = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    env = gym.make("CartPole-v1")
    dbg = rldebug.watch(policy=net, optimizer=optimizer, env=env, folder=tmp_path, quiet=True, every=1)
    for _ in range(3):
        dbg.update(loss=net(torch.randn(4, 3)).mean())
        optimizer.step()
    report = dbg.close()
    before = {file.name: file.read_bytes() for file in dbg.path.iterdir()}
    env.reset(seed=0)
    for _ in range(5):
        env.step(0)
        dbg.rollout(reward=FIVE, value="nonsense")  # not even looked at
        dbg.replay(reward=FIVE)
        dbg.metric("mine", 1.0)
        dbg.update(loss=net(torch.randn(4, 3)).mean())
        optimizer.step()
    assert dbg.report() is report
    assert dbg.close() is report
    with dbg as again:
        again.update(loss=1.0)
    assert {file.name: file.read_bytes() for file in dbg.path.iterdir()} == before
    assert not dbg.broken
    assert dbg.age == 3
    assert not net._forward_hooks
    assert not optimizer._optimizer_step_pre_hooks
    assert not optimizer._optimizer_step_post_hooks
    assert "step" not in vars(env)
    assert "reset" not in vars(env)


def test_a_report_half_way(tmp_path):
    learner = Learner()
    dbg = watched(learner, tmp_path, every=1)
    for k in range(20):
        update_before_backward(learner, dbg, k)
        if k % 5 == 0:
            assert dbg.report().checked
    assert_aligned(finished(dbg), at_least=20)


# ── where calls may come from ───────────────────────────────────────────────────────────────────────────────────────


def test_calls_inside_inference_mode_and_no_grad(tmp_path):
    net = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(net.parameters())
    with rldebug.watch(
        policy=net, critic=net, optimizer=optimizer, folder=tmp_path, quiet=True, every=1, detail=1
    ) as dbg:
        for _ in range(6):
            with torch.inference_mode():
                obs = torch.randn(8, 3)
                dist = Categorical(logits=net(obs))
                action = dist.sample()
                logp = dist.log_prob(action)
                dbg.rollout(obs=obs, action=action, reward=logp, value=logp, logp=logp, terminated=logp > 0)
            new = Categorical(logits=net(obs.clone()))
            loss = -new.log_prob(action.clone()).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                dbg.update(
                    loss={"policy": loss}, logp_old=logp, logp_new=new.log_prob(action), dist=new, advantage=logp
                )
    run = finished(dbg)
    assert len(run["grad/norm"]) == 6
    assert len(run["reward/mean"]) == 6


def test_an_actor_in_a_thread_of_its_own(tmp_path):
    """An env step ends a line only where it comes after it; an actor in another thread steps at any moment."""
    env = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1")] * 2)
    learner = Learner()
    dbg = watched(learner, tmp_path, env=env, every=1)
    env.reset(seed=0)

    def elsewhere():
        actor = threading.Thread(target=env.step, args=(np.zeros(2, int),))
        actor.start()
        actor.join()

    for k in range(20):
        elsewhere()
        dbg.update(loss=number_of(k))
        elsewhere()
        learner.learn()
        before = dbg._record.last
        elsewhere()
        assert dbg._record.last is before
        if k == 10:
            env.step(np.zeros(2, int))
            assert dbg._record.last is not before
    run = finished(dbg)
    assert_aligned(run, at_least=20)
    assert run["episode/steps"].value.sum() == run.readings[-1].env_step
