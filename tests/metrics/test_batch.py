import math

import pytest
import torch

from rldebug.rollout import Transitions, Update
from tests.metrics.reading import NAN, about, number, numbers, random_rows


def table(rows, width, seed):
    return random_rows(rows * width, seed).reshape(rows, width)


# ── size, age, identity ─────────────────────────────────────────────────────────────────────────────────────────────


def test_rows_are_counted_on_whatever_was_handed_over():
    assert number("batch/rows", Update(advantage=torch.zeros(5))) == 5
    assert number("batch/rows", Update(value=torch.zeros(3))) == 3
    assert number("batch/rows", Update()) is None


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32])
def test_staleness_from_the_age_of_each_row(dtype):
    collected = [3, 10, 10, 7]
    ages = [12 - each for each in collected]
    update = Update(age=12, collected_at=torch.tensor(collected, dtype=dtype), since_rollout=1)
    assert numbers("batch/staleness_mean batch/staleness_max", update) == (about(sum(ages) / 4), max(ages))


def test_staleness_from_the_last_rollout():
    assert numbers("batch/staleness_mean batch/staleness_max", Update(age=40, since_rollout=6)) == (6, 6)
    assert number("batch/staleness_mean", Update(age=40)) is None


def slow_hash(*columns):
    return sum(each * math.cos(i) for rows in columns for i, each in enumerate(rows))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_fingerprint_is_a_weighted_sum(dtype):
    logp, target, advantage = (random_rows(30, seed, dtype) for seed in (0, 1, 2))
    update = Update(logp_old=logp, target=target, advantage=advantage)
    slow = slow_hash(logp.tolist(), target.tolist(), advantage.tolist())
    assert number("batch/fingerprint", update) == about(slow, rel=1e-4, abs_=1e-4)
    assert number("batch/fingerprint", Update(value=torch.zeros(3))) is None


def test_fingerprints_tell_batches_and_orders_apart():
    target = random_rows(30, 0)
    first = number("batch/fingerprint", Update(target=target))
    assert number("batch/fingerprint", Update(target=target.clone())) == first
    assert number("batch/fingerprint", Update(target=target.flip(0))) != first
    changed = target.clone()
    changed[17] += 1e-3
    assert number("batch/fingerprint", Update(target=changed)) != first


# ── replay ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rows", [1, 7, 64])
def test_distribution_of_replayed_rewards(rows):
    reward = random_rows(rows, 0)
    each = reward.tolist()
    mean = sum(each) / rows
    std = math.sqrt(sum((x - mean) ** 2 for x in each) / rows)
    names = "replay/reward_mean replay/reward_std replay/reward_min replay/reward_max"
    assert numbers(names, Transitions(reward=reward)) == (about(mean), about(std), about(min(each)), about(max(each)))


def test_a_nan_shows_in_replayed_rewards():
    assert number("replay/reward_mean", Transitions(reward=torch.tensor([1.0, math.nan]))) == NAN


def test_mean_of_replayed_observations():
    obs = table(6, 3, 0)
    slow = sum(x for row in obs.tolist() for x in row) / 18
    assert number("replay/obs_mean", Transitions(obs=obs)) == about(slow)
    broken = obs.clone()
    broken[2, 1] = math.nan
    assert number("replay/obs_mean", Transitions(obs=broken)) == NAN
    assert number("replay/obs_mean", Transitions(obs=torch.zeros(2, 4, dtype=torch.uint8))) is None


@pytest.mark.parametrize("shape", [(8, 3), (8, 2, 4, 4)])
def test_stuck_rows_are_those_equal_in_every_entry(shape):
    obs = random_rows(math.prod(shape), 0).reshape(shape)
    following = obs.clone()
    following.reshape(8, -1)[:5, -1] += 1.0  # differs in one entry only
    slow = sum(a == b for a, b in zip(obs.flatten(1).tolist(), following.flatten(1).tolist(), strict=True)) / 8
    assert slow == 3 / 8
    assert number("replay/stuck", Transitions(obs=obs, next_obs=following)) == about(slow)


def test_share_of_terminal_rows():
    flags = [True, False, False, True, False]
    assert number("replay/terminated", Transitions(terminated=torch.tensor(flags))) == about(2 / 5)
    assert number("replay/terminated", Transitions(terminated=torch.tensor(flags).float())) == about(2 / 5)


def test_share_of_the_commonest_action():
    actions = [3, 1, 3, 3, 0, 1]
    assert number("replay/action_mode_share", Transitions(action=torch.tensor(actions))) == about(0.5)
    assert number("replay/action_mode_share", Transitions(action=torch.tensor(actions)[:, None])) == about(0.5)
    assert number("replay/action_mode_share", Transitions(action=table(6, 2, 0))) is None
    assert number("replay/action_mode_share", Transitions(action=torch.zeros(6, 2, dtype=torch.long))) is None


@pytest.mark.parametrize("copies", [[0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 1, 2], [4, 4, 4, 4, 4, 4]])
def test_duplicates_are_rows_less_distinct_rows(copies):
    obs, following = table(6, 3, 0)[copies], table(6, 3, 1)[copies]
    distinct = {tuple(a + b) for a, b in zip(obs.tolist(), following.tolist(), strict=True)}
    slow = (6 - len(distinct)) / 5  # of the five neighbours in sorted order
    assert number("replay/duplicates", Transitions(obs=obs, next_obs=following)) == about(slow)


def test_duplicates_of_one_row_are_undefined():
    assert number("replay/duplicates", Transitions(obs=table(1, 3, 0), next_obs=table(1, 3, 1))) == NAN


def slow_shared_entries(obs, following):
    rows = [a + b for a, b in zip(obs.tolist(), following.tolist(), strict=True)]
    most = max(len({row[k] for row in rows}) for k in range(len(rows[0])))
    return 1.0 - most / len({tuple(row) for row in rows})


def test_continuous_rows_share_no_entry_and_grid_cells_do():
    picks = [0, 0, 1, 1, 2, 2, 3, 4]
    obs, following = table(5, 3, 0)[picks], table(5, 3, 1)[picks]
    assert slow_shared_entries(obs, following) == 0.0
    assert number("replay/shared_entries", Transitions(obs=obs, next_obs=following)) == 0.0
    cells = torch.tensor([[x, y] for x in range(4) for y in range(4)]) / 4
    moved = cells.roll(1, 0)
    expected = slow_shared_entries(cells, moved)
    assert expected == 0.75
    assert number("replay/shared_entries", Transitions(obs=cells, next_obs=moved)) == about(expected)


def test_replay_fingerprint_is_a_weighted_sum_of_the_observations():
    obs = table(10, 3, 0)
    slow = slow_hash(obs.reshape(-1).tolist())
    assert number("replay/fingerprint", Transitions(obs=obs)) == about(slow, rel=1e-4, abs_=1e-4)
    assert number("replay/fingerprint", Transitions(obs=obs.flip(0))) != number(
        "replay/fingerprint", Transitions(obs=obs)
    )


def test_replay_fingerprint_of_images():
    images = torch.randint(0, 256, (8, 3, 32, 32), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    same, other = images.clone(), images.clone()
    other[0] = 255 - other[0]
    first = number("replay/fingerprint", Transitions(obs=images))
    assert number("replay/fingerprint", Transitions(obs=same)) == first
    assert number("replay/fingerprint", Transitions(obs=other)) != first
