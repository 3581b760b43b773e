"""The buffers beside slow twins: a list of transitions in which every observation says whose, and of when, it is."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import fields

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.parts.buffers import PrioritisedReplay, Replay, RolloutBuffer, Sample

GAMMA = 0.9
VECTOR = spaces.Box(-np.inf, np.inf, (3,), np.float32)
NESTED = spaces.Dict(
    {
        "where": spaces.Tuple((spaces.Discrete(10**6), spaces.Box(-np.inf, np.inf, (1, 2), np.float64))),
        "flags": spaces.MultiBinary(2),
    }
)
STACK = spaces.Box(0, 255, (4, 2, 3), np.uint8)
ACTION = spaces.Discrete(10**6)
KINDS = ["vector", "nested", "discrete", "frames padded by the first", "frames padded by zeros", "frames not padded"]


class World:
    """`envs` environments in which every observation says (env, episode, step); endings of all kinds at random.

    The twin: `past` is a list over time of lists over envs of plain transitions (obs, action, reward, next, ends, cut).
    """

    def __init__(self, kind, envs, *, seed=0, ending=0.2):
        self.kind, self.envs, self.ending = kind, envs, ending
        self.rng = np.random.default_rng(seed)
        self.at = [(env, 0, 0) for env in range(envs)]
        self.past = []

    @property
    def space(self):
        if self.kind.startswith("frames"):
            return STACK
        return {"vector": VECTOR, "nested": NESTED, "discrete": spaces.Discrete(10**9)}[self.kind]

    @property
    def options(self):
        return {"envs": self.envs, "gamma": GAMMA, "frames": 4 if self.kind.startswith("frames") else 0}

    def encode(self, at):
        env, episode, step = at
        if self.kind == "vector":
            return np.array(at, np.float32)
        if self.kind == "discrete":
            return np.int64(env * 10**8 + episode * 10**4 + step)
        if self.kind == "nested":
            flags = np.array([step % 2, episode % 2], np.int8)
            return {"where": (np.int64(env), np.array([[episode, step]], np.float64)), "flags": flags}

        def frame(step):
            if step < 0 and self.kind.endswith("zeros"):
                return np.zeros((2, 3), np.uint8)
            if step < 0 and self.kind.endswith("first"):
                step = 0
            return np.array([[env, episode // 256, episode % 256], [step + 100, 1, 2]], np.uint8)

        return np.stack([frame(step - back) for back in (3, 2, 1, 0)])

    def batch(self, ats):
        return stacked([self.encode(at) for at in ats])

    def step(self):
        row, rng = [], self.rng
        for env, episode, step in self.at:
            ends, cut = rng.random() < self.ending, rng.random() < self.ending / 2
            action, reward = int(rng.integers(10**6)), float(rng.standard_normal())
            row.append(((env, episode, step), action, reward, (env, episode, step + 1), ends, cut))
        self.at = [(e, i + 1, 0) if ends or cut else after for (e, i, _), _, _, after, ends, cut in row]
        self.past.append(row)
        obs, action, reward, after, ends, cut = zip(*row, strict=True)
        return self.batch(obs), np.array(action), np.array(reward), self.batch(after), np.array(ends), np.array(cut)

    def walk(self, time, env, n):
        """From the definition: rewards are summed until n of them, an ending, or the newest transition."""
        total, steps = 0.0, 0
        while True:
            _, _, reward, after, ends, cut = self.past[time + steps][env]
            total += GAMMA**steps * reward
            steps += 1
            if steps == n or ends or cut or time + steps == len(self.past):
                return total, steps, after, ends, cut

    def audit(self, sample, n, oldest):
        """Every row of the sample is the transition that its index says, and none is older than `oldest`."""
        got = {field.name: numpy(getattr(sample, field.name)) for field in fields(Sample)}
        for i, number in enumerate(got["index"].tolist()):
            time, env = divmod(number, self.envs)
            assert oldest <= time < len(self.past)
            obs, action = self.past[time][env][:2]
            reward, steps, after, ends, cut = self.walk(time, env, n)
            assert same(pick(got["obs"], i), self.encode(obs)), obs
            assert same(pick(got["next_obs"], i), self.encode(after)), after
            assert (got["action"][i], got["terminated"][i], got["truncated"][i]) == (action, ends, cut)
            assert abs(got["reward"][i] - reward) < 1e-5
            assert abs(got["discount"][i] - (0.0 if ends else GAMMA**steps)) < 1e-6


def stacked(rows):
    if isinstance(rows[0], dict):
        return {key: stacked([row[key] for row in rows]) for key in rows[0]}
    if isinstance(rows[0], tuple):
        return tuple(stacked([row[i] for row in rows]) for i in range(len(rows[0])))
    return np.stack(rows)


def pick(nested, i):
    if isinstance(nested, dict):
        return {key: pick(part, i) for key, part in nested.items()}
    return tuple(pick(part, i) for part in nested) if isinstance(nested, tuple) else np.asarray(nested[i])


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return np.array_equal(one, other)


def equal(one, other):
    """Two samples, bit for bit."""
    pairs = [(getattr(one, field.name), getattr(other, field.name)) for field in fields(Sample)]
    return all(same(numpy(a), numpy(b)) for a, b in pairs)


def numpy(nested):
    if isinstance(nested, dict):
        return {key: numpy(part) for key, part in nested.items()}
    return tuple(map(numpy, nested)) if isinstance(nested, tuple) else nested.numpy()


def through_a_file(state):
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def vectors(replay, n, *, start=0):
    """Add n single transitions (start, start + 1, …), without endings."""
    for i in range(start, start + n):
        obs = np.full((1, 3), i, np.float32)
        replay.add(obs, np.array([i]), np.array([float(i)]), obs + 1, np.array([False]), np.array([False]))


# ── what comes out is what went in ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("stored", ["in memory", "mapped"])
@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("envs", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kept", [Replay, PrioritisedReplay])
def test_audit(kept, kind, envs, n, stored, tmp_path):
    """Through wrap-around, with episodes that end apart: any mispairing of rows shows, for observations have names."""
    world = World(kind, envs)
    folder = tmp_path / "replay" if stored == "mapped" else None
    replay = kept(17 * envs + envs // 2, world.space, ACTION, n_step=n, seed=1, folder=folder, **world.options)
    assert replay.capacity == 17 * envs
    for time in range(1, 60):
        replay.add(*world.step())
        oldest = time - len(replay) // envs
        assert oldest == max(0, time - 17) or kind.startswith("frames")
        if time in (1, 2, 17, 18, 59):
            sample = replay.sample(48)
            world.audit(sample, n, oldest)
            if kept is PrioritisedReplay:
                replay.update(sample.index, torch.rand(48))


@pytest.mark.parametrize("kind", KINDS[3:])
@pytest.mark.parametrize("kept", [Replay, PrioritisedReplay])
def test_frames_that_run_out_take_their_transitions_along(kept, kind):
    """Episodes of hardly more than a step bring up to five frames a step: what is still said to be there is right."""
    world = World(kind, 1, ending=0.8)
    replay = kept(60, world.space, ACTION, seed=1, **world.options)
    for time in range(1, 120):
        replay.add(*world.step())
        if time > 60:  # at every step, to come by the very last frame that is still there
            world.audit(replay.sample(60), 1, time - len(replay))
    assert 0 < len(replay) < 60
    sample = replay.sample(1500)
    assert set(sample.index.tolist()) == set(range(119 - len(replay), 119))  # no more and no less than all of them


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS[3:])
def test_the_newest_transitions_have_their_frames_however_small_the_buffer(kind, steps):
    world = World(kind, 2, ending=0.5)
    replay = PrioritisedReplay(2 * steps, world.space, ACTION, seed=1, **world.options)
    for time in range(1, 60):
        replay.add(*world.step())
        assert len(replay) >= 2
        world.audit(replay.sample(4), 1, max(0, time - steps))


def test_a_stacked_frame_is_stored_once():
    world = World("frames padded by the first", 1, ending=0.0)
    replay = Replay(100, world.space, ACTION, **world.options)
    for _ in range(30):
        replay.add(*world.step())
    assert len(replay.state_dict()["data"]["frame"]) == 31
    large = spaces.Box(0, 255, (4, 84, 84), np.uint8)
    kept_once, kept_whole = (Replay(1000, large, ACTION, frames=k).nbytes / 1000 for k in (4, 0))
    assert kept_once < 1.1 * 84 * 84 < kept_whole / 7


def test_a_stack_that_is_not_moved_on_is_refused():
    """The observation of the reset as next_obs: a mispaired transition, which frames show."""
    world = World("frames padded by the first", 2, ending=0.0)
    replay = Replay(100, world.space, ACTION, **world.options)
    obs, action, reward, after, ends, cut = world.step()
    reset = np.concatenate([after[:1], world.batch([(1, 1, 0)])])
    with pytest.raises(ValueError, match=r"next_obs\[1\] is not obs\[1\] moved on by one frame.*final_obs"):
        replay.add(obs, action, reward, reset, np.array([False, True]), cut)
    assert len(replay) == 0
    replay.add(obs, action, reward, after, ends, cut)
    world.audit(replay.sample(8), 1, 0)


@settings(deadline=None, max_examples=40)
@given(
    envs=st.integers(1, 3),
    steps=st.integers(1, 9),
    time=st.integers(1, 30),
    n=st.integers(1, 6),
    ending=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
)
def test_n_step_beside_its_definition(envs, steps, time, n, ending):
    world = World("vector", envs, seed=time, ending=ending)
    replay = Replay(envs * steps, VECTOR, ACTION, n_step=n, seed=0, **world.options)
    for _ in range(time):
        replay.add(*world.step())
    world.audit(replay.sample(40), n, max(0, time - steps))


def test_the_target_of_a_batch_is_the_bootstrapped_return():
    """Two steps, the second cut off: γ² Q(last) is added; terminated, it is not."""
    for ends in (False, True):
        replay = Replay(10, VECTOR, ACTION, n_step=5, gamma=0.5, seed=0)
        flag = np.array([ends])
        for reward, last in ((1.0, False), (2.0, True)):
            obs = np.zeros((1, 3), np.float32)
            replay.add(obs, [0], [reward], obs, flag & last, np.array([last]))
        batch = replay.sample(50)
        target = batch.reward + batch.discount * 100.0
        first = batch.index == 0
        assert first.any()
        assert (~first).any()
        assert (target[first] == (2.0 if ends else 2.0 + 25.0)).all()
        assert (target[~first] == (2.0 if ends else 2.0 + 50.0)).all()


def test_what_is_in_the_memory_behind_the_newest_row_does_not_matter():
    replay = Replay(10, VECTOR, ACTION, n_step=4, seed=0)
    replay._store["reward"][:] = np.nan
    replay._store["terminated"][:] = True
    vectors(replay, 2)
    assert torch.isfinite(replay.sample(50).reward).all()


def test_as_a_gymnasium_vector_environment_gives_it():
    """The documented way to next_obs, judged by the environment: obs and action lead to next_obs, also at an ending."""
    env = SyncVectorEnv(
        [lambda: gym.make("CartPole-v1", max_episode_steps=12)] * 3,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    replay = Replay(300, env.single_observation_space, env.single_action_space, envs=3, seed=0)
    obs, _ = env.reset(seed=1)
    env.action_space.seed(1)
    for _ in range(100):
        action = env.action_space.sample()
        after, reward, ends, cut, info = env.step(action)
        true_after = after.copy()
        for i in np.flatnonzero(info.get("_final_obs", [])):
            true_after[i] = info["final_obs"][i]
        replay.add(obs, action, reward, true_after, ends, cut)
        obs = after
    env.close()
    judge = gym.make("CartPole-v1").unwrapped
    judge.reset(seed=0)
    batch = replay.sample(400)
    assert batch.terminated.any()
    assert batch.truncated.any()
    for obs, action, after, ends in zip(batch.obs, batch.action, batch.next_obs, batch.terminated, strict=True):
        judge.state, judge.steps_beyond_terminated = obs.numpy().astype(np.float64), None
        expected, _, terminated, _, _ = judge.step(action.item())
        assert np.allclose(after.numpy(), expected, atol=1e-5)
        assert terminated == ends


def test_tensors_and_arrays_are_stored_alike():
    worlds = [World("nested", 2, seed=3) for _ in range(2)]
    replays = [Replay(20, NESTED, ACTION, seed=0, **worlds[0].options) for _ in worlds]

    def tensors(value):
        if isinstance(value, dict):
            return {key: tensors(part) for key, part in value.items()}
        return tuple(map(tensors, value)) if isinstance(value, tuple) else torch.from_numpy(value)

    for _ in range(30):
        replays[0].add(*worlds[0].step())
        replays[1].add(*(tensors(each) for each in worlds[1].step()))
    assert equal(replays[0].sample(100), replays[1].sample(100))


def test_types_of_a_sample():
    world = World("nested", 2)
    replay = Replay(20, NESTED, ACTION, **world.options)
    replay.add(*world.step())
    sample = replay.sample(5)
    env, rest = sample.obs["where"]
    assert (env.dtype, env.shape) == (torch.int64, (5,))
    assert (rest.dtype, rest.shape) == (torch.float32, (5, 1, 2))  # float64, in the space
    assert (sample.obs["flags"].dtype, sample.action.dtype) == (torch.int8, torch.int64)
    assert (sample.reward.dtype, sample.discount.dtype, sample.weight.dtype) == (torch.float32,) * 3
    assert (sample.terminated.dtype, sample.truncated.dtype, sample.index.dtype) == (
        torch.bool,
        torch.bool,
        torch.int64,
    )
    assert all(getattr(sample, name).shape == (5,) for name in ("action", "reward", "discount", "weight", "index"))
    assert (sample.weight == 1.0).all()


@pytest.mark.parametrize("kept", [Replay, PrioritisedReplay])
@pytest.mark.parametrize("kind", ["vector", "frames padded by zeros"])
def test_nothing_is_aliased(kept, kind, tmp_path):
    world = World(kind, 2)
    replay = kept(20, world.space, ACTION, seed=0, folder=tmp_path / "mapped", **world.options)
    handed_over = world.step()
    replay.add(*handed_over)
    state = replay.state_dict()
    sample = replay.sample(8)
    before = [numpy(getattr(sample, field.name)).copy() for field in fields(sample)]
    for array in handed_over:
        array[...] = 1  # what the caller does with its arrays afterwards does not matter
    world.audit(sample, 1, 0)
    world.audit(replay.sample(8), 1, 0)
    for _ in range(50):
        replay.add(*world.step())
    assert all(
        np.array_equal(numpy(getattr(sample, f.name)), old) for f, old in zip(fields(sample), before, strict=True)
    )
    sample.obs[:] = 0
    sample.reward[:] = 0
    assert not np.shares_memory(sample.obs.numpy(), sample.next_obs.numpy())
    world.audit(replay.sample(8), 1, 26 if kind == "vector" else 0)
    again = kept(20, world.space, ACTION, **world.options)
    again.load_state_dict(state)
    assert len(again) == 2


# ── drawing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_uniform():
    replay = Replay(50, VECTOR, ACTION, seed=3)
    vectors(replay, 73)
    counts = np.bincount(np.concatenate([replay.sample(1000).index for _ in range(100)]), minlength=73)
    assert counts[:23].sum() == 0
    # 2000 expected of each; the largest of 50 deviations, of standard deviation 44, is below 5 of them
    assert np.abs(counts[23:] - 2000).max() < 5 * 44.3


@pytest.mark.parametrize("kept", [Replay, PrioritisedReplay])
def test_a_seed_reproduces_and_the_global_generators_are_left_alone(kept):
    replays = [kept(50, VECTOR, ACTION, seed=seed) for seed in (5, 5, 6)]
    before = np.random.get_state()[1].copy(), torch.get_rng_state()
    for replay in replays:
        vectors(replay, 40)
    one, two, three = (replay.sample(64) for replay in replays)
    assert equal(one, two)
    assert not equal(one, three)
    assert np.array_equal(before[0], np.random.get_state()[1])
    assert torch.equal(before[1], torch.get_rng_state())


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_prioritised_frequencies_and_weights(alpha):
    replay = PrioritisedReplay(20, VECTOR, ACTION, alpha=alpha, eps=1e-3, seed=1)
    vectors(replay, 23)
    error = np.random.default_rng(0).exponential(size=20)
    error[4] = 0.0
    replay.update(torch.arange(3, 23), torch.from_numpy(error))
    chance = (error + 1e-3) ** alpha
    chance /= chance.sum()
    drawn = Counter()
    for _ in range(400):
        sample = replay.sample(64, beta=0.7)
        drawn.update(sample.index.tolist())
        rows = sample.index.numpy() - 3
        weight = (1.0 / (20 * chance[rows])) ** 0.7
        assert np.allclose(sample.weight, weight / weight.max(), rtol=1e-5)
    counts = np.array([drawn[i] for i in range(3, 23)])
    assert counts.sum() == 400 * 64
    spread = np.sqrt(400 * 64 * chance)  # stratified drawing spreads less than this
    assert (np.abs(counts - 400 * 64 * chance) < 5 * spread + 1).all()


def test_each_share_of_the_priorities_gives_one_row():
    replay = PrioritisedReplay(64, VECTOR, ACTION, seed=0)
    vectors(replay, 64)
    replay.update(np.arange(64), np.ones(64))
    assert sorted(replay.sample(64).index.tolist()) == list(range(64))


def test_new_rows_get_the_highest_priority_so_far():
    replay = PrioritisedReplay(10, VECTOR, ACTION, alpha=1.0, eps=1e-9, seed=0)
    vectors(replay, 4)
    assert set(replay.state_dict()["priority"].tolist()) == {1.0}
    replay.update([0, 1, 2], [7.0, 0.5, 3.0])
    vectors(replay, 1)
    replay.update([0], [2.0])
    vectors(replay, 1)
    expected = [2.0, 0.5, 3.0, 1.0, 7.0, 7.0]
    assert replay.state_dict()["priority"].tolist() == pytest.approx(expected)


def test_an_update_that_comes_too_late_is_passed_over():
    replay = PrioritisedReplay(10, VECTOR, ACTION, alpha=1.0, seed=0)
    vectors(replay, 10)
    replay.update(np.arange(10), np.full(10, 0.5))
    vectors(replay, 3)  # 0, 1 and 2 are gone; 10, 11 and 12 lie in their rows, with priority 1
    before = replay.state_dict()["priority"]
    replay.update([0, 1, 2], [9.0, 9.0, 9.0])
    assert torch.equal(before, replay.state_dict()["priority"])
    replay.update([2, 12, 5], [9.0, 0.25, 0.75])
    expected = before.clone()
    expected[2], expected[5] = 0.25 + 1e-6, 0.75 + 1e-6
    assert torch.allclose(replay.state_dict()["priority"], expected)
    vectors(replay, 1)
    assert replay.state_dict()["priority"][3] == 1.0  # not 9: what is gone is not the highest either


def test_given_twice_the_last_counts():
    replay = PrioritisedReplay(40, VECTOR, ACTION, alpha=1.0, seed=0)
    vectors(replay, 40)
    replay.update([3, 20, 3], [5.0, 2.0, 0.5])
    assert replay.state_dict()["priority"][3].item() == pytest.approx(0.5, rel=1e-5)
    assert replay._tree.total == pytest.approx(38 + 2.5, rel=1e-6)


def test_priorities_may_carry_a_graph_since_only_their_values_are_read():
    replay = PrioritisedReplay(10, VECTOR, ACTION, seed=0)
    vectors(replay, 10)
    error = torch.ones(4, requires_grad=True)
    replay.update(replay.sample(4).index, (2 * error).abs())


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_priorities_that_are_none_are_refused_whole(bad):
    replay = PrioritisedReplay(10, VECTOR, ACTION, seed=0)
    vectors(replay, 10)
    before = replay.state_dict()["priority"]
    with pytest.raises(ValueError, match=rf"priority\[1\] is {bad}; each must be finite and at least 0.*td_error.abs"):
        replay.update([1, 2], [5.0, bad])
    assert torch.equal(before, replay.state_dict()["priority"])


def test_indices_that_were_never_given_out_are_refused():
    replay = PrioritisedReplay(10, VECTOR, ACTION, seed=0)
    vectors(replay, 4)
    for index in (-1, 4):
        with pytest.raises(ValueError, match=rf"index\[0\] is {index}, of 4 transitions added"):
            replay.update([index], [1.0])
    with pytest.raises(ValueError, match=r"index has shape \(2,\) and priority \(2, 1\)"):
        replay.update([0, 1], torch.ones(2, 1))
    replay.update([], [])


@settings(deadline=None, max_examples=30)
@given(size=st.sampled_from([1, 2, 15, 16, 17, 255, 257, 4097]), seed=st.integers(0, 99))
def test_sum_tree_beside_a_running_sum(size, seed):
    from rldebug.parts.kernels.sum_tree import SumTree

    rng = np.random.default_rng(seed)
    tree, twin = SumTree(size), np.zeros(size)
    for _ in range(5):
        index, error = rng.integers(size, size=20), rng.integers(0, 8, size=20).astype(float)
        highest, wrong = tree.renew(index, error, 0, size, 2.0, 0.0)
        assert (highest, wrong) == (error.max() ** 2, -1)
        for i, value in zip(index, error, strict=True):
            twin[i] = value**2
        first = int(rng.integers(size))
        rows = int(rng.integers(1, size - first + 1))
        tree.fill(first, rows, 3.0)
        twin[first : first + rows] = 3.0
        assert np.array_equal(tree.priority, twin)
        assert tree.total == twin.sum()  # whole numbers: exact
        at = np.sort(rng.random(50) * twin.sum())
        row, priority = tree.find(at)
        assert np.array_equal(row, np.searchsorted(np.cumsum(twin), at, side="right"))
        assert np.array_equal(priority, twin[row])


def test_a_sum_tree_does_not_drift_and_never_finds_what_has_no_priority():
    from rldebug.parts.kernels.sum_tree import SumTree

    rng = np.random.default_rng(0)
    tree = SumTree(1000)
    for _ in range(300):
        index = rng.integers(1000, size=50)
        tree.renew(index, 10.0 ** rng.uniform(-12, 12, size=50), 0, 1000, 1.0, 0.0)
        tree.fill(int(rng.integers(1000)), 1, 0.0)
    nodes = tree.nodes.copy()
    tree.rebuild()
    assert np.array_equal(nodes, tree.nodes)
    # Also at the very end, and beyond it, where the sums of shares may come to lie by rounding.
    at = np.concatenate([rng.random(5000) * tree.total, [tree.total, np.nextafter(tree.total, np.inf)], tree.priority])
    row, priority = tree.find(at)
    assert (priority > 0).all()
    assert np.array_equal(tree.priority[row], priority)


# ── saved and loaded ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("time", [5, 40], ids=["half full", "wrapped"])
@pytest.mark.parametrize("mapped", ["no", "saved", "loaded"])
@pytest.mark.parametrize("kind", ["vector", "nested", "frames padded by the first"])
@pytest.mark.parametrize("kept", [Replay, PrioritisedReplay])
def test_resumed_bit_for_bit(kept, kind, mapped, time, tmp_path):
    world = World(kind, 2)
    folders = {mapped: tmp_path / "replay"}
    options = {**world.options, "n_step": 2}
    replay = kept(30, world.space, ACTION, seed=4, folder=folders.get("saved"), **options)
    for _ in range(time):
        replay.add(*world.step())
    sample = replay.sample(8)
    if kept is PrioritisedReplay:
        replay.update(sample.index, torch.rand(8))
    state = through_a_file(replay.state_dict())
    assert len(state["data"]["reward"]) == min(time, 15)  # only the filled part
    other = kept(30, world.space, ACTION, seed=99, folder=folders.get("loaded"), **options)
    for _ in range(20):
        other.add(*World(kind, 2, seed=5).step())
    other.load_state_dict(state)
    assert len(other) == len(replay)
    for _ in range(20):
        row = world.step()
        replay.add(*row)
        other.add(*row)
        one, two = replay.sample(8), other.sample(8)
        assert equal(one, two)
        if kept is PrioritisedReplay:
            error = torch.rand(8)
            replay.update(one.index, error)
            other.update(two.index, error)
    one, two = replay.state_dict()["data"], other.state_dict()["data"]
    assert all(torch.equal(one[key], two[key]) for key in one)  # also no frame stored twice


def test_a_folder_is_opened_again_and_the_state_tells_what_is_in_it(tmp_path):
    first = Replay(20, VECTOR, ACTION, seed=0, folder=tmp_path / "a" / "b")
    vectors(first, 25)
    state = through_a_file(first.state_dict())
    expected = first.sample(16)
    del first
    again = Replay(20, VECTOR, ACTION, seed=1, folder=tmp_path / "a" / "b")
    assert len(again) == 0
    again.load_state_dict(state)
    assert equal(again.sample(16), expected)
    assert np.load(tmp_path / "a" / "b" / "reward.npy").shape == (20, 1)


def test_a_folder_of_another_buffer_is_refused(tmp_path):
    Replay(20, VECTOR, ACTION, folder=tmp_path / "one")
    with pytest.raises(
        ValueError, match=r"buffer in .*one is laid out differently: capacity is 20 there, and 30 in this"
    ):
        Replay(30, VECTOR, ACTION, folder=tmp_path / "one")
    with pytest.raises(ValueError, match=r"obs is float32 \[20, 1, 3\] there, and int64 \[20, 1\] in this buffer"):
        Replay(20, ACTION, ACTION, folder=tmp_path / "one")
    with pytest.raises(ValueError, match="frames is 0 there, and 4 in this buffer"):
        Replay(20, STACK, ACTION, frames=4, folder=tmp_path / "one")
    (tmp_path / "two").mkdir()
    np.save(tmp_path / "two" / "precious.npy", np.zeros(3))
    with pytest.raises(ValueError, match=r"holds precious.npy, which no buffer wrote"):
        Replay(20, VECTOR, ACTION, folder=tmp_path / "two")


def test_a_state_of_another_buffer_is_refused():
    state = Replay(20, VECTOR, ACTION).state_dict()
    with pytest.raises(ValueError, match="this state is laid out differently: capacity is 20 there, and 21"):
        Replay(21, VECTOR, ACTION).load_state_dict(state)
    with pytest.raises(ValueError, match=r"action is int64 \[20, 1\] there, and float32 \[20, 1, 3\]"):
        Replay(20, VECTOR, VECTOR).load_state_dict(state)
    with pytest.raises(ValueError, match=r"this state has alpha = none; this buffer has 0\.6"):
        PrioritisedReplay(20, VECTOR, ACTION).load_state_dict(state)
    with pytest.raises(ValueError, match=r"this state has alpha = 0\.5; this buffer has 0\.6"):
        PrioritisedReplay(20, VECTOR, ACTION).load_state_dict(
            PrioritisedReplay(20, VECTOR, ACTION, alpha=0.5).state_dict()
        )


# ── refused, with the reason ────────────────────────────────────────────────────────────────────────────────────────


def row(**changed):
    flag = np.array([False, False])
    obs = np.zeros((2, 3), np.float32)
    return {
        "obs": obs, "action": np.array([1, 2]), "reward": np.zeros(2), "next_obs": obs,
        "terminated": flag, "truncated": flag, **changed,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        (
            {"obs": np.zeros((2, 4), np.float32)},
            ValueError,
            r"obs has shape \(2, 4\); \(2, 3\) is expected: a row for each",
        ),
        ({"next_obs": np.zeros(3, np.float32)}, ValueError, r"next_obs has shape \(3,\); \(2, 3\) is expected"),
        ({"reward": 1.0}, ValueError, r"reward has shape \(\); \(2,\) is expected"),
        ({"reward": np.zeros((2, 1))}, ValueError, r"reward has shape \(2, 1\); \(2,\) is expected"),
        ({"action": np.zeros(2)}, TypeError, "action is float64; int64 is expected"),
        ({"terminated": np.zeros(2)}, TypeError, "terminated is float64; bool is expected"),
        ({"truncated": np.zeros(2, int)}, TypeError, "truncated is int64; bool is expected"),
        ({"obs": np.array([None, None])}, ValueError, r"obs has shape \(2,\)"),
        ({"obs": torch.zeros(2, 3, requires_grad=True)}, ValueError, r"obs carries a graph: it would keep every past"),
        (
            {"reward": 2 * torch.zeros(2, requires_grad=True)},
            ValueError,
            r"reward carries a graph.*detach\(\) it, or act",
        ),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_a_row_that_does_not_fit_is_refused_and_nothing_is_written(changed, error, message):
    replay = Replay(4, VECTOR, ACTION, envs=2, seed=0)
    for _ in range(3):
        replay.add(**row())
    before = replay.state_dict()["data"]
    with pytest.raises(error, match=message):
        replay.add(**row(reward=np.ones(2)) | changed)
    after = replay.state_dict()["data"]
    assert all(torch.equal(before[key], after[key]) for key in before)
    assert len(replay) == 4


def test_a_pixel_as_a_float_is_refused():
    replay = Replay(4, STACK, ACTION)
    image = np.zeros((1, 4, 2, 3), np.float32)
    with pytest.raises(TypeError, match="obs is float32; uint8 is expected"):
        replay.add(image, [0], [0.0], image, [False], [False])


def test_one_environment_has_rows_too():
    replay = Replay(4, VECTOR, ACTION)
    with pytest.raises(
        ValueError, match=r"obs has shape \(3,\); \(1, 3\) is expected.*also where there is one: obs\[None\]"
    ):
        replay.add(np.zeros(3), 0, 0.0, np.zeros(3), False, False)


def test_nested_rows_that_do_not_fit():
    world = World("nested", 1)
    replay = Replay(4, NESTED, ACTION)
    obs, *rest = world.step()
    for wrong, message in (
        (np.zeros(1), r"obs is a ndarray; a dict of \['flags', 'where'\]"),
        ({"flags": obs["flags"]}, r"obs has \['flags'\]; a dict of \['flags', 'where'\]"),
        (obs | {"where": obs["where"][:1]}, r"obs\['where'\] has 1 parts; a tuple of 2"),
        (obs | {"flags": np.zeros((1, 3), np.int8)}, r"obs\['flags'\] has shape \(1, 3\); \(1, 2\) is expected"),
    ):
        with pytest.raises(ValueError, match=message):
            replay.add(wrong, *rest)


def test_an_empty_buffer_is_not_sampled():
    for kept in (Replay, PrioritisedReplay):
        with pytest.raises(ValueError, match=r"the buffer is empty: add\(\) transitions before sampling"):
            kept(4, VECTOR, ACTION).sample(2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"capacity": 3, "envs": 4}, "capacity is 3; it must be at least 4: one transition for each of 4 envs"),
        ({"envs": 0}, "envs is 0; it must be at least 1"),
        ({"n_step": 0}, "n_step is 0"),
        ({"gamma": 1.5}, r"gamma is 1.5; a discount factor lies in \[0, 1\]"),
        (
            {"frames": 4},
            r"frames=4 needs observations that are stacks of uint8 frames \(4, …\); these are float32 \(3,\)",
        ),
        ({"frames": 3, "observation_space": STACK}, r"frames=3 needs .*; these are uint8 \(4, 2, 3\)"),
        ({"frames": 4, "observation_space": NESTED}, "these are nested"),
        ({"alpha": -0.1}, "alpha is -0.1"),
        ({"eps": 0.0}, "eps is 0.0"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_settings_that_make_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        PrioritisedReplay(**{"capacity": 10, "observation_space": VECTOR, "action_space": ACTION} | options)


def test_batches_and_betas_that_make_no_sense():
    replay = PrioritisedReplay(4, VECTOR, ACTION)
    vectors(replay, 1)
    with pytest.raises(ValueError, match="batch is 0; it must be at least 1"):
        replay.sample(0)
    with pytest.raises(ValueError, match=r"beta is 1.5; it lies in \[0, 1\]"):
        replay.sample(1, beta=1.5)


def test_spaces_without_a_fixed_size_are_refused():
    space = spaces.Dict({"words": spaces.Text(5)})
    with pytest.raises(TypeError, match=r"obs\['words'\] is of Text; a buffer stores Box, Discrete"):
        Replay(4, space, ACTION)


# ── rollouts ────────────────────────────────────────────────────────────────────────────────────────────────────────


def play(buffer, world, steps):
    """Add steps, and return what was added as lists of rows."""
    added = []
    for _ in range(steps):
        obs, action, reward, _, ends, cut = world.step()
        value, logp = torch.rand(world.envs), np.random.default_rng(0).random(world.envs)
        step = {"obs": obs, "action": action, "reward": reward, "terminated": ends, "truncated": cut}
        step |= {"value": value, "logp": logp}
        buffer.add(**step)
        added.append(step)
    return added


@pytest.mark.parametrize("envs", [1, 3])
@pytest.mark.parametrize("steps", [1, 7])
def test_a_rollout_is_what_was_added_time_first(envs, steps):
    buffer = RolloutBuffer(steps, NESTED, ACTION, envs=envs)
    world = World("nested", envs)
    for _ in range(2):
        added = play(buffer, world, steps)
        assert buffer.full
        rollout = buffer.rollout()
        assert list(rollout) == ["obs", "action", "reward", "terminated", "truncated", "value", "logp"]
        assert rollout["reward"].shape == rollout["value"].shape == (steps, envs)
        assert rollout["obs"]["where"][1].shape == (steps, envs, 1, 2)
        for t, step in enumerate(added):
            for name, expected in step.items():
                got = pick(rollout[name], t)
                assert np.allclose(got, expected) if name != "obs" else same(got, expected)
        buffer.clear()
        assert len(buffer) == 0


def test_a_rollout_is_a_copy():
    buffer = RolloutBuffer(4, VECTOR, ACTION, envs=2)
    world = World("vector", 2)
    play(buffer, world, 2)
    half = buffer.rollout()
    assert half["obs"].shape == (2, 2, 3)
    kept = {name: tensor.clone() for name, tensor in half.items()}
    play(buffer, world, 2)
    buffer.clear()
    play(buffer, world, 4)
    assert all(torch.equal(half[name], kept[name]) for name in kept)


def test_a_rollout_buffer_refuses():
    buffer = RolloutBuffer(1, VECTOR, ACTION, envs=2)
    with pytest.raises(ValueError, match="the buffer is empty"):
        buffer.rollout()
    full = row() | {"value": np.zeros(2), "logp": [0.0, 0.0]}
    del full["next_obs"]
    with pytest.raises(
        TypeError, match="was given obs, action, reward; it takes obs, action, reward, terminated, trunc"
    ):
        buffer.add(obs=full["obs"], action=full["action"], reward=full["reward"])
    with pytest.raises(TypeError, match="logp, next_obs; it takes"):
        buffer.add(**full, next_obs=full["obs"])
    full["value"] = torch.zeros(2, requires_grad=True)
    with pytest.raises(ValueError, match="value carries a graph: it would keep every past forward pass alive"):
        buffer.add(**full)
    with pytest.raises(ValueError, match=r"logp has shape \(2, 1\); \(2,\) is expected"):
        buffer.add(**full | {"value": np.zeros(2), "logp": np.zeros((2, 1))})
    assert len(buffer) == 0
    buffer.add(**full | {"value": np.zeros(2)})
    with pytest.raises(ValueError, match=r"the buffer is full \(1 steps\): take rollout\(\), then clear\(\)"):
        buffer.add(**full | {"value": np.zeros(2)})
    with pytest.raises(ValueError, match="extras has 'reward'"):
        RolloutBuffer(1, VECTOR, ACTION, envs=2, extras=("reward",))


def test_minibatches_are_one_permutation_of_all_rows():
    buffer = RolloutBuffer(5, NESTED, ACTION, envs=3)
    play(buffer, World("nested", 3), 5)
    rollout = buffer.rollout() | {"advantage": torch.arange(15.0).reshape(5, 3)}
    batch = RolloutBuffer.flatten(rollout)
    assert batch["obs"]["where"][1].shape == (15, 1, 2)
    epochs = []
    for _ in range(2):
        parts = list(RolloutBuffer.minibatches(batch, 4, generator=torch.Generator().manual_seed(len(epochs))))
        assert [len(part["advantage"]) for part in parts] == [4, 4, 4, 3]
        for part in parts:
            for i, place in enumerate(part["advantage"].long().tolist()):
                t, env = divmod(place, 3)
                assert all(same(pick(part[key], i), at(rollout[key], t, env)) for key in part)
        epochs.append(torch.cat([part["advantage"] for part in parts]).tolist())
        assert sorted(epochs[-1]) == list(range(15))
    assert epochs[0] != epochs[1]


def at(nested, t, env):
    if isinstance(nested, dict):
        return {key: at(part, t, env) for key, part in nested.items()}
    return tuple(at(part, t, env) for part in nested) if isinstance(nested, tuple) else nested[t, env].numpy()


def test_minibatches_follow_their_generator_or_the_global_one():
    batch = {"a": torch.arange(100)}

    def order(generator=None):
        return [part["a"].tolist() for part in RolloutBuffer.minibatches(batch, 30, generator=generator)]

    assert order(torch.Generator().manual_seed(1)) == order(torch.Generator().manual_seed(1))
    before = torch.get_rng_state()
    order(torch.Generator().manual_seed(1))
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(7)
    one = order()
    torch.manual_seed(7)
    assert order() == one
    assert batch["a"].tolist() == list(range(100))


def test_minibatches_refuse():
    with pytest.raises(ValueError, match=r"the tensors have \[3, 4\] rows; all must have the same number"):
        RolloutBuffer.minibatches({"a": torch.zeros(3), "b": (torch.zeros(4),)}, 2)
    with pytest.raises(ValueError, match="size is 0"):
        RolloutBuffer.minibatches({"a": torch.zeros(3)}, 0)


# ── on a GPU ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("kind", ["nested", "frames padded by the first"])
def test_sampled_onto_the_device(kind):
    world = World(kind, 2)
    here, there = (
        Replay(30, world.space, ACTION, n_step=2, seed=0, device=d, **world.options) for d in ("cpu", "cuda")
    )
    for _ in range(40):
        row = world.step()
        here.add(*row)
        there.add(*row)
    samples = [there.sample(64) for _ in range(20)]  # many in flight: none may take the pinned memory of another
    for sample in samples:
        assert sample.reward.device.type == "cuda"
        on_host = {f.name: host(getattr(sample, f.name)) for f in fields(Sample)}
        assert equal(Sample(**on_host), here.sample(64))


def host(nested):
    if isinstance(nested, dict):
        return {key: host(part) for key, part in nested.items()}
    return tuple(map(host, nested)) if isinstance(nested, tuple) else nested.cpu()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_rollout_onto_the_device():
    buffer = RolloutBuffer(5, VECTOR, ACTION, envs=3, device="cuda")
    added = play(buffer, World("vector", 3), 5)
    rollout = buffer.rollout()
    assert rollout["obs"].device.type == "cuda"
    assert np.array_equal(rollout["obs"].cpu(), np.stack([step["obs"] for step in added]))
    for generator in (None, torch.Generator().manual_seed(0), torch.Generator("cuda").manual_seed(0)):
        parts = list(RolloutBuffer.minibatches(RolloutBuffer.flatten(rollout), 4, generator=generator))
        rows = torch.cat([part["obs"] for part in parts]).cpu()
        expected = rollout["obs"].flatten(0, 1).cpu()
        assert sorted(rows.tolist()) == sorted(expected.tolist())
