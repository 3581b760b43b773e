"""The environment as it is: its own episodes, in every autoreset mode, and never a changed one."""

import functools
import multiprocessing

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

import rldebug
from rldebug.evidence.run import read_run

STEPS = 300


class Counter(gym.Env):
    """Ends after `length` steps, by termination or truncation in turn; the reward is the step's number."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = gym.spaces.Discrete(3)

    def __init__(self, length=5, fail_at=None):
        self.length, self.fail_at = length, fail_at
        self.t = self.episode = self.calls = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.episode = 0, self.episode + 1
        return self._obs(), {"depth": -1.0}

    def step(self, action):
        self.calls += 1
        if self.calls == self.fail_at:
            raise RuntimeError("the simulator fell over")
        self.t += 1
        over = self.t >= self.length
        info = {"depth": float(self.t), "text": "no number", "wide": np.arange(3.0)}
        return self._obs(), float(self.t), over and self.episode % 2 == 1, over and self.episode % 2 == 0, info

    def _obs(self):
        return np.array([self.t, self.episode], dtype=np.float64)


def readings(dbg):
    assert not dbg.broken, dbg.broken
    return read_run(dbg.path)


def totals(run):
    """Over the whole run: episodes, their mean return and length, how they ended, steps and reward."""
    count = run["episode/count"].value
    weigh = {name: run[f"episode/{name}_mean"].finite for name in ("return", "length")}
    at = {int(update): int(n) for update, n in zip(run["episode/count"].update, count, strict=True)}
    return {
        "count": int(count.sum()),
        **{
            name: sum(v * at[int(u)] for u, v in zip(each.update, each.value, strict=True)) / max(count.sum(), 1)
            for name, each in weigh.items()
        },
        "terminated": int(run["episode/terminated"].value.sum()),
        "truncated": int(run["episode/truncated"].value.sum()),
        "steps": int(run["episode/steps"].value.sum()),
        "reward": run["episode/reward_sum"].value.sum(),
    }


def act(env, k):
    return np.arange(env.num_envs) % 2 if hasattr(env, "num_envs") else k % 2


def drive(env, folder, steps=STEPS, each=1, on_step=None, **more):
    """Step the environment, with an update every `each` steps; single environments are reset by hand."""
    with rldebug.watch(env=env, folder=folder, quiet=True, every=1, **more) as dbg:
        env.reset(seed=0)
        for k in range(steps):
            _, _, terminated, truncated, info = env.step(act(env, k))
            if on_step is not None:
                on_step(terminated, truncated, info)
            elif not hasattr(env, "num_envs") and (terminated or truncated):
                env.reset()
            if k % each == each - 1:
                dbg.update(loss=0.0)
        dbg.update(loss=0.0)
    return dbg


# ── modes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_single_env(tmp_path):
    run = readings(drive(Counter(), tmp_path, each=7))
    assert totals(run) == {
        "count": 60, "return": 15.0, "length": 5.0, "terminated": 30, "truncated": 30, "steps": 300, "reward": 900.0,
    }  # fmt: skip
    first = run.readings[0]
    assert first.env_step == 7
    assert first.numbers["episode/count"] == 1
    assert first.numbers["episode/reward_per_step"] == pytest.approx(18 / 7)
    assert [each.env_step for each in run.readings][:3] == [7, 14, 21]
    assert run.meta["env"]["autoreset"] == "disabled"
    assert run.meta["env"]["stepped_after_end"] == 0


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_vector_modes_agree_with_the_sub_environments(mode, tmp_path):
    """Lengths 3, 5, 7: whatever the mode, steps that are resets are not steps, and an episode is an episode."""
    env = SyncVectorEnv([functools.partial(Counter, length) for length in (3, 5, 7)], autoreset_mode=mode)

    def reset_ended(terminated, truncated, info):
        over = terminated | truncated
        if over.any():
            env.reset(options={"reset_mask": over})

    on_step = reset_ended if mode is AutoresetMode.DISABLED else None
    run = readings(drive(env, tmp_path, each=4, on_step=on_step))
    steps = sum(each.calls for each in env.envs)
    found = totals(run)
    assert found["steps"] == run.readings[-1].env_step == steps
    lengths = [3, 5, 7]
    period = [length + (mode is AutoresetMode.NEXT_STEP) for length in lengths]
    # NEXT_STEP: the step after an end is a reset, so an episode of 3 comes every 4 calls.
    episodes = [(STEPS + (mode is AutoresetMode.NEXT_STEP)) // each for each in period]
    assert found["count"] == sum(episodes)
    assert found["length"] == pytest.approx(
        sum(n * length for n, length in zip(episodes, lengths, strict=True)) / sum(episodes)
    )
    assert found["terminated"] + found["truncated"] == found["count"]
    assert abs(found["terminated"] - found["truncated"]) <= 3
    assert run.meta["env"]["autoreset"] == mode.name.lower().replace("_", "-")
    assert run.facts("env")[-1][1]["stepped_after_end"] == 0


def test_a_masked_reset_resets_no_other(tmp_path):
    """Gymnasium takes the mask out of the options; an episode that goes on must keep what it has collected."""
    env = SyncVectorEnv(
        [functools.partial(Counter, 4), functools.partial(Counter, 100)], autoreset_mode=AutoresetMode.DISABLED
    )
    with rldebug.watch(env=env, folder=tmp_path, quiet=True, every=1) as dbg:
        env.reset(seed=0)
        for _ in range(100):
            _, _, terminated, truncated, _ = env.step(np.zeros(2, int))
            over = terminated | truncated
            if over.any():
                env.reset(options={"reset_mask": over})
        dbg.update(loss=0.0)
    run = readings(dbg)
    assert run["episode/length_max"].value[-1] == 100
    assert run["episode/return_max"].value[-1] == 5050
    assert run["episode/count"].value[-1] == 26


def cart_poles(**more):
    return gym.make_vec("CartPole-v1", num_envs=3, **more)


def vectorised():
    return cart_poles(vectorization_mode="vector_entry_point")


def sync():
    return cart_poles(vectorization_mode="sync")


def wrapped():
    return gym.wrappers.vector.ClipReward(sync(), -2, 2)


@pytest.mark.parametrize("make", [vectorised, sync, wrapped])
def test_episodes_equal_those_of_gymnasiums_own_statistics(make, tmp_path):
    seen = {"r": [], "l": []}
    with rldebug.watch(env=(inner := make()), folder=tmp_path, quiet=True, every=1) as dbg:
        env = gym.wrappers.vector.RecordEpisodeStatistics(inner)
        env.reset(seed=1)
        for k in range(STEPS):
            *_, info = env.step(np.full(3, k % 2))
            if "episode" in info:
                for name in seen:
                    seen[name] += info["episode"][name][info["_episode"]].tolist()
            if k % 10 == 9:
                dbg.update(loss=0.0)
        dbg.update(loss=0.0)
    run = readings(dbg)
    assert run.meta["env"]["autoreset"] == "next-step"
    assert_same_episodes(run, seen, more_than=10)
    env.close()


def test_same_step_episodes_equal_those_of_gymnasiums_own_statistics(tmp_path):
    """From statistics inside the sub-environments, which know nothing of the mode."""
    seen = {"r": [], "l": []}
    env = SyncVectorEnv(
        [lambda: gym.wrappers.RecordEpisodeStatistics(gym.make("CartPole-v1"))] * 3,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )

    def on_step(terminated, truncated, info):
        if "final_info" in info:
            for name in seen:
                seen[name] += info["final_info"]["episode"][name][info["final_info"]["_episode"]].tolist()

    assert_same_episodes(readings(drive(env, tmp_path, each=10, on_step=on_step)), seen, more_than=10)


def assert_same_episodes(run, seen, more_than):
    found = totals(run)
    assert found["count"] == len(seen["r"]) > more_than
    assert found["return"] == pytest.approx(np.mean(seen["r"]))
    assert found["length"] == pytest.approx(np.mean(seen["l"]))
    assert run["episode/length_max"].max() == max(seen["l"])
    assert run["episode/return_min"].min() == min(seen["r"])


def test_single_episodes_equal_those_of_gymnasiums_own_statistics(tmp_path):
    seen = {"r": [], "l": []}
    env = gym.wrappers.RecordEpisodeStatistics(gym.make("Acrobot-v1", max_episode_steps=60))

    def on_step(terminated, truncated, info):
        if "episode" in info:
            for name, each in seen.items():
                each.append(info["episode"][name])
            env.reset()

    run = readings(drive(env, tmp_path, each=10, on_step=on_step))
    assert_same_episodes(run, seen, more_than=4)
    assert totals(run)["truncated"] == 5


def test_async_vector_env(tmp_path):
    context = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
    env = AsyncVectorEnv([functools.partial(Counter, length) for length in (3, 5)], context=context)
    try:
        found = totals(readings(drive(env, tmp_path, steps=40, each=8)))
    finally:
        env.close()
    assert found["count"] == 41 // 4 + 41 // 6
    assert found["steps"] == 80 - 10 - 6


def test_an_autoreset_wrapper_on_a_single_env(tmp_path):
    env = gym.wrappers.Autoreset(Counter())
    found = totals(readings(drive(env, tmp_path, steps=60, on_step=lambda *_: None)))
    assert found["count"] == 10
    assert found["steps"] == 50
    assert found["length"] == 5


def test_wrappers_on_top_may_come_later(tmp_path):
    inner = Counter()
    with rldebug.watch(env=inner, folder=tmp_path, quiet=True, every=1) as dbg:
        env = gym.wrappers.TransformReward(gym.wrappers.TimeLimit(inner, 3), lambda r: 100.0)
        env.reset(seed=0)
        for _ in range(30):
            *_, terminated, truncated, _ = env.step(0)
            if terminated or truncated:
                env.reset()
        dbg.update(loss=0.0)
    run = readings(dbg)
    assert run["episode/reward_sum"].value.tolist() == [60.0], "the rewards of the environment that was handed over"
    assert run["episode/steps"].value.tolist() == [30]


# ── hand-made environments ──────────────────────────────────────────────────────────────────────────────────────────


class Plain:
    """No Gymnasium in sight: just reset and step."""

    def __init__(self):
        self.t = 0

    def reset(self, seed=None):
        self.t = 0
        return [0.0], {}

    def step(self, action):
        self.t += 1
        return [float(self.t)], 1, self.t == 4, False, {"k": self.t}


class Slotted(Plain):
    __slots__ = ()


class ReallySlotted:
    __slots__ = ("t",)

    def reset(self):
        return 0, {}

    def step(self, action):
        return 0, 0.0, False, False, {}


def test_a_class_of_ones_own(tmp_path):
    env = Plain()
    found = totals(readings(drive(env, tmp_path, steps=20, info=["k"])))
    assert found["count"] == 5
    assert found["return"] == 4
    assert env.step(0)[3] is False


def test_slots_are_refused_with_a_reason(tmp_path):
    with pytest.raises(TypeError, match=r"ReallySlotted.*__slots__.*expected"):
        rldebug.watch(env=ReallySlotted(), folder=tmp_path, quiet=True)
    assert not list(tmp_path.iterdir())
    readings(drive(Slotted(), tmp_path, steps=8))


def test_torch_rewards_and_flags(tmp_path):
    class Batched(Plain):
        num_envs = 2

        def step(self, action):
            self.t += 1
            return torch.zeros(2, 3), torch.ones(2), torch.tensor([self.t % 4 == 0, False]), torch.zeros(2).bool(), {}

    Batched.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
    found = totals(readings(drive(Batched(), tmp_path, steps=20)))
    assert found["count"] == 5
    assert found["steps"] == 40


def test_step_and_reset_take_keywords(tmp_path):
    env = SyncVectorEnv([Counter, Counter])
    with rldebug.watch(env=env, folder=tmp_path, quiet=True, every=1) as dbg:
        env.reset(seed=[1, 2], options=None)
        env.step(actions=np.array([2, 2]))
        dbg.update(loss=0.0)
    assert readings(dbg)["env/action_mode_share"].value.tolist() == [1.0]


# ── trouble ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_env_that_raises_is_the_users_own_error(tmp_path):
    env = Counter(fail_at=13)
    caught = []
    with rldebug.watch(env=env, folder=tmp_path, quiet=True, every=1) as dbg:
        env.reset(seed=0)
        for _ in range(30):
            try:
                *_, terminated, truncated, _ = env.step(0)
            except RuntimeError as error:
                caught.append(str(error))
                terminated = True
            if terminated or truncated:
                env.reset()
        dbg.update(loss=0.0)
    found = totals(readings(dbg))
    assert caught == ["the simulator fell over"]
    assert found["steps"] == 29
    assert found["count"] == 5, "the episode that fell over is not one of them"


def test_after_close_the_env_is_as_it_was(tmp_path):
    env = Counter()
    env.reset(seed=0)
    before = (env.step, env.reset, dict(vars(env)))
    dbg = drive(env, tmp_path, steps=10)
    assert (env.step, env.reset) == before[:2]
    assert vars(env).keys() == before[2].keys()
    env.reset(seed=0)
    env.step(0)
    assert dbg._collect.env_steps == 10


def test_a_method_replaced_on_the_object_is_put_back(tmp_path):
    env, calls = Counter(), []
    original = env.step
    env.step = mine = lambda action: calls.append(action) or original(action)
    drive(env, tmp_path, steps=10)
    assert env.step is mine
    assert len(calls) == 10


def test_two_watches_on_one_env_closed_in_either_order(tmp_path):
    for first_out in (0, 1):
        env = Counter()
        watches = [rldebug.watch(env=env, folder=tmp_path, quiet=True) for _ in range(2)]
        env.reset(seed=0)
        for _ in range(3):
            env.step(0)
        watches[first_out].close()
        env.step(0)
        watches[1 - first_out].close()
        env.step(0)
        counts = [each._collect.env_steps for each in watches]
        assert counts[1 - first_out] == 4
        assert counts[first_out] == 3
        assert env.calls == 5


def test_what_goes_wrong_inside_switches_the_hook_off(tmp_path):
    """Four values instead of five, as the old Gym had: the training goes on, the report says so."""

    class Old(Plain):
        def step(self, action):
            return [0.0], 1.0, False, {}

    env = Old()
    with rldebug.watch(env=env, folder=tmp_path, quiet=True) as dbg:
        env.reset()
        for _ in range(5):
            assert env.step(0) == ([0.0], 1.0, False, {})
        dbg.update(loss=0.0)
    assert list(dbg.broken) == ["environment hook"]
    assert "not enough values" in dbg.broken["environment hook"]
    assert "environment hook" in dbg.close().broken


# ── counts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_stepping_after_the_end_counts_only_when_it_is_real(tmp_path):
    dbg = drive(Counter(), tmp_path, steps=12, on_step=lambda *_: None)
    env = read_run(dbg.path).facts("env")[-1][1]
    assert env["stepped_after_end"] == 7
    assert env["ended_again"] == 7
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        vector = SyncVectorEnv([Counter, Counter], autoreset_mode=mode)
        assert read_run(drive(vector, tmp_path, steps=30).path).facts("env")[-1][1]["stepped_after_end"] == 0
    vector = SyncVectorEnv(
        [functools.partial(Counter, 5), functools.partial(Counter, 8)], autoreset_mode=AutoresetMode.DISABLED
    )
    with rldebug.watch(env=vector, folder=tmp_path, quiet=True, every=1) as dbg:
        vector.reset(seed=0)
        for _ in range(8):
            vector.envs[0].t = 0  # keeps the first from ending again; the tracker must not care
            vector.step(np.zeros(2, int))
        dbg.update(loss=0.0)
    assert read_run(dbg.path).facts("env")[-1][1]["stepped_after_end"] == 0


def test_infos_as_metrics(tmp_path):
    run = readings(drive(Counter(), tmp_path, steps=10, each=5, info=["depth", "text", "wide", "absent"]))
    assert run["env/depth"].value.tolist()[:2] == [3.0, 3.0]
    assert run["env/wide"].value.tolist()[:2] == [1.0, 1.0]
    assert "env/text" not in run
    assert "env/absent" not in run


def test_infos_of_vector_envs_leave_out_those_that_said_nothing(tmp_path):
    class Rare(Counter):
        def step(self, action):
            *rest, _ = super().step(action)
            return (*rest, {"rare": 10.0} if self.length == 3 and self.t == 2 else {})

    env = SyncVectorEnv([functools.partial(Rare, 3), functools.partial(Rare, 5)])
    run = readings(drive(env, tmp_path, steps=20, each=4, info=["rare"]))
    assert set(run["env/rare"].value) == {10.0}


def test_actions_and_observations_are_looked_at(tmp_path):
    class Wild(Counter):
        action_space = gym.spaces.Box(-1.0, 1.0, (1,))

        def _obs(self):
            return np.array([np.nan, 0.0])

    env = Wild()
    with rldebug.watch(env=env, folder=tmp_path, quiet=True, every=1) as dbg:
        env.reset(seed=0)
        for k in range(64):
            env.step(np.array([2.0 if k < 32 else np.nan]))
            env.t = 0
        dbg.update(loss=0.0)
    run = readings(dbg)
    assert run["env/obs_nonfinite"].value.tolist() == [1.0]
    assert run["env/action_nonfinite"].value.tolist() == [0.5]
    assert run["env/action_outside"].value.tolist() == [0.5]


def test_a_long_phase_without_updates_does_not_grow(tmp_path):
    env = Counter(length=1)
    with rldebug.watch(env=env, folder=tmp_path, quiet=True, info=["depth"]) as dbg:
        watch = dbg._collect.env
        dbg._collect._env_only = False  # as if an optimizer were watched: no line is due until it steps
        env.reset(seed=0)
        for _ in range(6000):
            env.step(0)
            env.reset()
        assert len(watch.returns) == len(watch.lengths) == len(watch._info["depth"]) == 4096
        dbg.update(loss=0.0)
    assert readings(dbg)["episode/steps"].value.tolist() == [6000]
