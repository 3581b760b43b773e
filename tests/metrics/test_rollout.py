import math
import statistics

import pytest
import torch

from rldebug.rollout import Rollout
from tests.metrics.reading import NAN, about, number, numbers, random_rows

SHAPES = [(1, 1), (9, 1), (5, 4), (32, 3)]


def grid(steps, envs, *rest, seed=0, dtype=torch.float32):
    return random_rows(steps * envs * math.prod(rest), seed, dtype).reshape(steps, envs, *rest)


def flags(steps, envs, seed, share=0.3):
    return torch.rand(steps, envs, generator=torch.Generator().manual_seed(seed)) < share


def flat(tensor):
    return tensor.reshape(-1).tolist()


# ── rewards and ends ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rewards(shape, dtype):
    rollout = Rollout(reward=grid(*shape, dtype=dtype))
    each = flat(rollout.reward)
    mean, std = sum(each) / len(each), statistics.pstdev(each)
    names = "reward/mean reward/std reward/min reward/max"
    assert numbers(names, rollout) == (about(mean), about(std, abs_=1e-5), about(min(each)), about(max(each)))
    assert number("rollout/steps", rollout) == len(each)
    assert number("rollout/reward_sum", rollout) == about(sum(each), abs_=1e-4)


def test_rewards_may_be_whole_numbers():
    rollout = Rollout(reward=torch.tensor([[1, 0], [2, 1]]))
    assert numbers("reward/mean rollout/reward_sum", rollout) == (1.0, 4.0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("with_truncated", [True, False])
def test_reward_per_trajectory(shape, with_truncated):
    ended, cut = flags(*shape, seed=1), flags(*shape, seed=2)
    rollout = Rollout(reward=grid(*shape), terminated=ended, truncated=cut if with_truncated else None)
    ends = sum(a or (with_truncated and b) for a, b in zip(flat(ended), flat(cut), strict=True))
    slow = sum(flat(rollout.reward)) / ends if ends else math.nan
    assert number("reward/per_trajectory", rollout) == about(slow, abs_=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_shares_of_ends(shape):
    ended, cut = flags(*shape, seed=1), flags(*shape, seed=2)
    rollout = Rollout(terminated=ended, truncated=cut)
    both = sum(a and b for a, b in zip(flat(ended), flat(cut), strict=True))
    any_ = sum(a or b for a, b in zip(flat(ended), flat(cut), strict=True))
    steps = shape[0] * shape[1]
    assert number("rollout/terminated", rollout) == about(sum(flat(ended)) / steps)
    assert number("rollout/truncated", rollout) == about(sum(flat(cut)) / steps)
    assert number("rollout/ends_both", rollout) == about(both / any_ if any_ else math.nan)


def test_flags_may_be_numbers():
    rollout = Rollout(terminated=torch.tensor([[0.0], [1.0]]), truncated=torch.tensor([[0], [1]]))
    assert numbers("rollout/terminated rollout/ends_both", rollout) == (0.5, 1.0)


# ── observations ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rest", [(), (3,), (2, 4, 4)])
def test_observations(rest):
    rollout = Rollout(obs=grid(6, 2, *rest))
    each = flat(rollout.obs)
    mean, std = sum(each) / len(each), statistics.pstdev(each)
    names = "obs/mean obs/std obs/min obs/max"
    assert numbers(names, rollout) == (about(mean), about(std, abs_=1e-5), about(min(each)), about(max(each)))


def test_a_nan_shows_in_observations_and_rewards():
    obs, reward = grid(4, 2, 3), grid(4, 2)
    obs[1, 0, 2], reward[0, 1] = math.nan, math.nan
    rollout = Rollout(obs=obs, reward=reward)
    for name in ("obs/mean", "obs/max", "reward/mean", "reward/min", "rollout/reward_sum"):
        assert number(name, rollout) == NAN


def slow_hash(values):
    return sum(each * math.cos(i) for i, each in enumerate(values))


def test_fingerprints_are_weighted_sums():
    rollout = Rollout(obs=grid(5, 4, 3), action=grid(5, 4, 2, seed=1))
    assert number("rollout/fingerprint", rollout) == about(slow_hash(flat(rollout.obs)), rel=1e-4, abs_=1e-4)
    assert number("action/fingerprint", rollout) == about(slow_hash(flat(rollout.action)), rel=1e-4, abs_=1e-4)


def test_fingerprints_tell_rollouts_apart():
    obs, action = grid(40, 4, 3), torch.randint(0, 2, (40, 4), generator=torch.Generator().manual_seed(0))
    first = numbers("rollout/fingerprint action/fingerprint", Rollout(obs=obs, action=action))
    assert numbers("rollout/fingerprint action/fingerprint", Rollout(obs=obs.clone(), action=action.clone())) == first
    other = action.clone()
    other[7, 2] = 1 - other[7, 2]
    assert number("action/fingerprint", Rollout(action=other)) != first[1]
    assert number("rollout/fingerprint", Rollout(obs=obs.flip(0))) != first[0]


def test_constant_entries():
    obs = grid(5, 2, 4)
    obs[:, :, 1] = 0.5
    obs[:, 0, 2], obs[:, 1, 2] = 1.0, 2.0  # constant in each environment, not over all of them
    rows = [row for step in obs.tolist() for row in step]
    slow = sum(len({row[k] for row in rows}) == 1 for k in range(4)) / 4
    assert slow == 0.25
    assert number("obs/constant", Rollout(obs=obs)) == about(slow)


def test_still_observations():
    obs = grid(6, 2, 3)
    obs[3, 0], obs[4, 1], obs[5, 1] = obs[2, 0], obs[3, 1], obs[3, 1]
    table = obs.tolist()
    slow = sum(table[t][b] == table[t - 1][b] for t in range(1, 6) for b in range(2)) / 10
    assert slow == 0.3
    assert number("obs/still", Rollout(obs=obs)) == about(slow)
    assert number("obs/still", Rollout(obs=obs[:1])) is None


def test_whole_numbers_among_the_entries():
    obs = torch.tensor([[[1.0, 0.5]], [[-3.0, 2.0]]])
    assert number("obs/integers", Rollout(obs=obs)) == 0.75
    assert number("obs/integers", Rollout(obs=torch.randint(0, 256, (4, 2, 5), dtype=torch.uint8))) == 1.0


def test_ratio_of_entry_sizes():
    obs = torch.zeros(3, 2, 4)
    obs[..., 0], obs[..., 1], obs[1, 1, 2] = 2.0, -100.0, 5.0
    sizes = [max(abs(x[k]) for step in obs.tolist() for x in step) for k in range(4)]
    slow = max(sizes) / statistics.median(each for each in sizes if each > 0)
    assert slow == 20.0
    assert number("obs/entry_ratio", Rollout(obs=obs)) == about(slow)
    assert number("obs/entry_ratio", Rollout(obs=torch.zeros(3, 2, 4))) == NAN


# ── environments in step with one another ───────────────────────────────────────────────────────────────────────────


def slow_lockstep(obs, reward):
    steps, envs = reward.shape
    pairs = [
        all(obs[t, b].tolist() == obs[t, b - 1].tolist() and reward[t, b] == reward[t, b - 1] for t in range(steps))
        for b in range(1, envs)
    ]
    return sum(pairs) / len(pairs)


def test_lockstep_counts_neighbours_that_are_equal_at_every_step():
    obs, reward, action = grid(10, 4, 3), grid(10, 4, seed=1), grid(10, 4, 2, seed=2)
    rollout = Rollout(obs=obs, reward=reward, action=action)
    assert numbers("rollout/lockstep rollout/lockstep_actions", rollout) == (0, 0)
    obs[:, 1], reward[:, 1], action[:, 1] = obs[:, 0], reward[:, 0], action[:, 0]
    obs[:, 3], reward[:, 3], action[:, 3] = obs[:, 2], reward[:, 2], action[:, 2]
    assert slow_lockstep(obs, reward) == about(2 / 3)
    assert numbers("rollout/lockstep rollout/lockstep_actions", rollout) == (about(2 / 3), about(2 / 3))
    reward[9, 3] += 1.0
    action[4, 1, 0] += 1.0
    assert numbers("rollout/lockstep rollout/lockstep_actions", rollout) == (about(1 / 3), about(1 / 3))


def test_lockstep_says_nothing_about_one_environment_few_steps_or_a_constant_observation():
    for steps, envs in ((10, 1), (7, 4)):
        rollout = Rollout(obs=grid(steps, envs, 3), reward=grid(steps, envs), action=grid(steps, envs, 1))
        assert numbers("rollout/lockstep rollout/lockstep_actions", rollout) == (None, None)
    assert number("rollout/lockstep", Rollout(obs=torch.zeros(10, 4, 3), reward=torch.zeros(10, 4))) == 0.0


# ── actions, values, log-probs ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("trailing", [(), (1,)])
def test_share_of_the_commonest_action(trailing):
    action = torch.randint(0, 5, (20, 3, *trailing), generator=torch.Generator().manual_seed(0))
    each = flat(action)
    slow = max(each.count(k) for k in set(each)) / len(each)
    assert number("action/mode_share", Rollout(action=action)) == about(slow)
    assert number("action/std", Rollout(action=action)) is None


def test_spread_of_continuous_actions():
    action = grid(8, 2, 3)
    rows = action.reshape(16, 3).tolist()
    slow = sum(statistics.stdev(row[k] for row in rows) for k in range(3)) / 3
    assert number("action/std", Rollout(action=action)) == about(slow)
    assert number("action/mode_share", Rollout(action=action)) is None
    assert number("action/std", Rollout(action=grid(1, 1, 3))) is None


def test_several_discrete_actions_per_step_have_no_one_commonest():
    assert number("action/mode_share", Rollout(action=torch.zeros(4, 2, 3, dtype=torch.long))) is None


@pytest.mark.parametrize("shape", SHAPES)
def test_values_and_log_probs_at_acting_time(shape):
    rollout = Rollout(value=grid(*shape), logp=-grid(*shape, seed=1).abs())
    each, logp = flat(rollout.value), flat(rollout.logp)
    assert number("rollout/value_mean", rollout) == about(sum(each) / len(each))
    assert number("rollout/value_std", rollout) == about(statistics.pstdev(each), abs_=1e-5)
    assert numbers("rollout/logp_max rollout/logp_min", rollout) == (about(max(logp)), about(min(logp)))
