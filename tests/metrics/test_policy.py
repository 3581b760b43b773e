import math

import numpy as np
import pytest
import torch
from torch.distributions import Categorical, Independent, Normal, OneHotCategorical

from rldebug.rollout import Update
from tests.metrics.reading import NAN, about, number, numbers, random_rows

ROWS = (1, 2, 7, 64)
DTYPES = (torch.float32, torch.float64)


def logits(rows, actions, seed=0, dtype=torch.float32, scale=1.5):
    return random_rows(rows * actions, seed, dtype, scale).reshape(rows, actions)


def probabilities(row):
    """Softmax of one row, in plain Python; a forbidden action has −inf."""
    top = max(row)
    weights = [math.exp(each - top) for each in row]
    return [each / sum(weights) for each in weights]


def slow_entropy(row):
    return -sum(p * math.log(p) for p in probabilities(row) if p > 0)


def log_prob_update(rows, dtype=torch.float32, **more):
    old, new = -random_rows(rows, 1, dtype).abs(), -random_rows(rows, 2, dtype).abs()
    return Update(logp_old=old, logp_new=new, **more), old.tolist(), new.tolist()


# ── entropy ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_entropy_of_a_discrete_policy(rows, dtype):
    scores = logits(rows, 5, dtype=dtype)
    update = Update(dist=Categorical(logits=scores))
    slow = [slow_entropy(row) for row in scores.tolist()]
    assert number("policy/entropy", update) == about(sum(slow) / rows)
    assert number("policy/entropy_max", update) == about(math.log(5))
    assert number("policy/entropy_rel", update) == about(sum(each / math.log(5) for each in slow) / rows)


@pytest.mark.parametrize("hidden", [-math.inf, -1e8, torch.finfo(torch.float32).min])
def test_relative_entropy_counts_only_the_allowed_actions(hidden):
    scores = logits(40, 6)
    mask = torch.rand(40, 6, generator=torch.Generator().manual_seed(3)) < 0.5
    mask[:, 2] = True
    masked = torch.where(mask, scores, torch.tensor(hidden))
    shares = []
    for row, allowed in zip(scores.tolist(), mask.tolist(), strict=True):
        kept = [score for score, ok in zip(row, allowed, strict=True) if ok]
        if len(kept) > 1:
            shares.append(slow_entropy(kept) / math.log(len(kept)))
    expected = sum(shares) / len(shares)
    assert len(shares) < 40  # some rows have one allowed action, and say nothing
    assert number("policy/entropy_rel", Update(dist=Categorical(logits=masked), mask=mask)) == about(expected)
    assert number("policy/entropy_rel", Update(dist=Categorical(logits=masked))) == about(expected)


def test_relative_entropy_is_undefined_where_nothing_can_be_chosen():
    masked = torch.tensor([[0.0, -math.inf], [-math.inf, 0.0]])
    assert number("policy/entropy_rel", Update(dist=Categorical(logits=masked))) == NAN


def test_relative_entropy_of_a_policy_so_sure_that_probabilities_underflow():
    sure, open_ = [0.0, -200.0], [0.0, 0.0]  # exp(−200) is 0 in float32, and yet the action is allowed
    assert number("policy/entropy_rel", Update(dist=Categorical(logits=torch.tensor([sure, open_])))) == about(0.5)


def test_relative_entropy_of_hand_worked_rows():
    halves = torch.tensor([[0.5, 0.5, 0.0, 0.0]])
    assert number("policy/entropy", Update(dist=Categorical(probs=halves))) == about(math.log(2))
    assert number("policy/entropy_rel", Update(dist=OneHotCategorical(logits=torch.zeros(3, 4)))) == about(1.0)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("size", [1, 3])
def test_entropy_of_a_gaussian_policy(rows, size):
    mean, scale = logits(rows, size), logits(rows, size, seed=1).exp()
    low, high = torch.full((size,), -2.0), torch.linspace(2.0, 3.0, size)
    slow = [sum(0.5 * math.log(2 * math.pi * math.e * s * s) for s in row) for row in scale.tolist()]
    uniform = sum(math.log(h - lo) for h, lo in zip(high.tolist(), low.tolist(), strict=True))
    relative = min(math.exp((sum(slow) / rows - uniform) / size), 1.0)
    for dist in (Independent(Normal(mean, scale), 1), Normal(mean, scale)):
        if not isinstance(dist, Independent) and size == 1:
            continue
        update = Update(dist=dist, action_low=low, action_high=high)
        assert number("policy/entropy", update) == about(sum(slow) / rows)
        assert number("policy/entropy_rel", update) == about(relative, rel=1e-4)
        assert number("policy/entropy_max", update) is None


def test_entropy_of_a_gaussian_over_scalar_actions():
    bounds = {"action_low": torch.tensor([-1.0]), "action_high": torch.tensor([1.0])}
    update = Update(dist=Normal(torch.zeros(8), torch.full((8,), 0.25)), **bounds)
    entropy = 0.5 * math.log(2 * math.pi * math.e * 0.25**2)
    assert number("policy/entropy", update) == about(entropy)
    assert number("policy/entropy_rel", update) == about(math.exp(entropy - math.log(2.0)))


def test_relative_entropy_of_a_gaussian_needs_the_bounds():
    assert number("policy/entropy_rel", Update(dist=Normal(torch.zeros(8, 2), torch.ones(8, 2)))) is None


def test_entropy_of_several_actions_per_row_is_their_sum():
    scores = random_rows(6 * 3 * 4, 0).reshape(6, 3, 4)
    dist = Independent(Categorical(logits=scores), 1)
    slow = [sum(slow_entropy(each) for each in row) for row in scores.tolist()]
    assert number("policy/entropy", Update(dist=dist)) == about(sum(slow) / 6)
    assert number("policy/entropy", Update(dist=dist)) == about(float(dist.entropy().mean()))
    assert number("policy/entropy_max", Update(dist=dist)) == about(3 * math.log(4))
    assert number("policy/entropy_rel", Update(dist=dist)) == about(sum(slow) / 6 / (3 * math.log(4)))


def test_entropy_as_handed_over():
    given = torch.tensor([0.5, 0.25, 0.75])
    assert number("policy/entropy", Update(entropy=given)) == about(0.5)
    assert number("policy/entropy_given", Update(entropy=given)) == about(0.5)
    assert number("policy/entropy", Update()) is None


def test_a_nan_shows_in_the_entropy():
    scores = torch.zeros(4, 3)
    scores[1, 1] = math.nan
    update = Update(dist=Categorical(logits=scores, validate_args=False))
    assert numbers("policy/entropy policy/entropy_rel", update) == (NAN, NAN)


# ── how much the observation matters ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rows", [2, 7, 64])
def test_observation_dependence_is_the_spread_over_rows(rows):
    scores = logits(rows, 4)
    table = [probabilities(row) for row in scores.tolist()]
    slow = 0.0
    for action in range(4):
        column = [row[action] for row in table]
        mean = sum(column) / rows
        slow += math.sqrt(sum((each - mean) ** 2 for each in column) / (rows - 1)) / 4
    assert number("policy/obs_dependence", Update(dist=Categorical(logits=scores))) == about(slow)
    mean = logits(rows, 3)
    gaussian = Update(dist=Independent(Normal(mean, torch.ones_like(mean)), 1))
    assert number("policy/obs_dependence", gaussian) == about(float(np.std(mean.numpy(), axis=0, ddof=1).mean()))


def test_observation_dependence_of_several_actions_per_row():
    same = torch.tensor([[2.0, 0.0], [0.0, 3.0]]).expand(5, 2, 2)  # two actions, each the same for every observation
    assert number("policy/obs_dependence", Update(dist=Independent(Categorical(logits=same), 1))) == about(0.0)


def test_observation_dependence_of_one_row_is_unknown():
    assert number("policy/obs_dependence", Update(dist=Categorical(logits=torch.zeros(1, 3)))) is None


# ── divergence ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_divergence_from_log_probs(rows, dtype):
    update, old, new = log_prob_update(rows, dtype)
    k3 = k1 = 0.0
    for before, after in zip(old, new, strict=True):
        ratio = math.exp(after) / math.exp(before)
        k3 += ((ratio - 1.0) - math.log(ratio)) / rows
        k1 += (before - after) / rows
    assert number("policy/kl", update) == about(k3, rel=1e-4)
    assert number("policy/kl_k1", update) == about(k1, rel=1e-4)
    assert number("policy/kl", update) >= 0


def test_divergence_of_equal_policies_is_exactly_zero():
    logp = -random_rows(64, 0).abs()
    update = Update(logp_old=logp, logp_new=logp.clone(), since_rollout=0)
    assert numbers("policy/kl policy/first_log_ratio policy/clip_fraction", update) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("rows", [1, 5])
def test_exact_divergence_of_discrete_policies(rows):
    old, new = logits(rows, 4, seed=1), logits(rows, 4, seed=2)
    slow = 0.0
    for before, after in zip(old.tolist(), new.tolist(), strict=True):
        for p, q in zip(probabilities(before), probabilities(after), strict=True):
            slow += p * math.log(p / q) / rows
    update = Update(dist=Categorical(logits=new), dist_old=Categorical(logits=old))
    assert number("policy/kl_exact", update) == about(slow, rel=1e-4)


def test_exact_divergence_leaves_out_actions_that_both_policies_forbid():
    old, new = torch.tensor([[0.0, 1.0, -math.inf]]), torch.tensor([[1.0, 0.0, -math.inf]])
    p, q = probabilities([0.0, 1.0]), probabilities([1.0, 0.0])
    slow = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    update = Update(dist=Categorical(logits=new), dist_old=Categorical(logits=old))
    assert number("policy/kl_exact", update) == about(slow)


@pytest.mark.parametrize("wrap", [lambda each: Independent(each, 1), lambda each: each])
def test_exact_divergence_of_gaussian_policies(wrap):
    mean, scale = [logits(5, 2, seed=i) for i in (1, 2)], [logits(5, 2, seed=i).exp() for i in (3, 4)]
    slow = 0.0
    for row in range(5):
        for k in range(2):
            m0, s0, m1, s1 = (float(each[row, k]) for each in (mean[0], scale[0], mean[1], scale[1]))
            slow += (math.log(s1 / s0) + (s0**2 + (m0 - m1) ** 2) / (2 * s1**2) - 0.5) / 5
    update = Update(dist=wrap(Normal(mean[1], scale[1])), dist_old=wrap(Normal(mean[0], scale[0])))
    assert number("policy/kl_exact", update) == about(slow, rel=1e-4)


def test_exact_divergence_of_several_actions_per_row_is_their_sum():
    old, new = (random_rows(6 * 3 * 4, seed).reshape(6, 3, 4) for seed in (1, 2))
    slow = 0.0
    for row in range(6):
        for k in range(3):
            p, q = probabilities(old[row, k].tolist()), probabilities(new[row, k].tolist())
            slow += sum(a * math.log(a / b) for a, b in zip(p, q, strict=True)) / 6
    update = Update(dist=Independent(Categorical(logits=new), 1), dist_old=Independent(Categorical(logits=old), 1))
    assert number("policy/kl_exact", update) == about(slow, rel=1e-4)


def test_the_estimate_agrees_with_the_exact_divergence_on_many_samples():
    old, new = Categorical(logits=torch.tensor([0.3, -0.5, 0.1])), Categorical(logits=torch.tensor([0.0, 0.2, -0.4]))
    torch.manual_seed(0)
    action = old.sample((200_000,))
    update = Update(logp_old=old.log_prob(action), logp_new=new.log_prob(action))
    exact = number("policy/kl_exact", Update(dist=new, dist_old=old))
    assert number("policy/kl", update) == about(exact, rel=0.02)
    assert number("policy/kl_k1", update) == about(exact, rel=0.1)


def test_divergence_as_handed_over():
    assert number("policy/kl_given", Update(kl=torch.tensor([0.1, 0.3]))) == about(0.2)


def test_divergence_relative_to_its_limit():
    assert number("policy/kl_over_limit", Update(kl=torch.tensor([0.01, 0.03]), kl_limit=0.01)) == about(2.0)


# ── the ratio ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("clip", [None, 0.5])
def test_ratio_statistics(rows, clip):
    update, old, new = log_prob_update(rows, clip=clip, since_rollout=3)
    ratios = [math.exp(after - before) for before, after in zip(old, new, strict=True)]
    mean = sum(ratios) / rows
    std = math.sqrt(sum((each - mean) ** 2 for each in ratios) / rows)
    names = "policy/ratio_mean policy/ratio_std policy/ratio_min policy/ratio_max"
    assert numbers(names, update) == (about(mean), about(std, abs_=1e-5), about(min(ratios)), about(max(ratios)))
    largest = max(abs(after - before) for before, after in zip(old, new, strict=True))
    assert number("policy/log_ratio_absmax", update) == about(largest)
    assert number("policy/later_log_ratio", update) == about(largest)
    outside = [each for each in ratios if abs(each - 1.0) > (clip or 0.2)]
    assert number("policy/clip_fraction", update) == about(len(outside) / rows)


def test_first_and_later_minibatches_are_told_apart():
    update, old, new = log_prob_update(7, since_rollout=0)
    largest = max(abs(after - before) for before, after in zip(old, new, strict=True))
    assert number("policy/first_log_ratio", update) == about(largest)
    assert number("policy/later_log_ratio", update) is None
    later, _, _ = log_prob_update(7, since_rollout=1)
    assert number("policy/first_log_ratio", later) is None


def test_a_nan_shows_in_the_ratio():
    update = Update(logp_old=torch.tensor([0.0, math.nan, -1.0]), logp_new=torch.tensor([-1.0] * 3), since_rollout=0)
    for name in ("policy/kl", "policy/kl_k1", "policy/ratio_mean", "policy/ratio_min", "policy/first_log_ratio"):
        assert number(name, update) == NAN


def test_old_log_probs_are_looked_up_among_those_of_the_rollout():
    acted = -random_rows(50, 0).abs()
    old = torch.cat([acted[[3, 3, 41]], torch.tensor([-0.123, -7.5])])
    slow = sum(each in acted.tolist() for each in old.tolist()) / 5
    assert slow == 0.6
    assert number("policy/logp_from_rollout", Update(logp_old=old, rollout_logp=acted)) == about(slow)
    recomputed = acted * (1 + 1e-6)
    assert number("policy/logp_from_rollout", Update(logp_old=recomputed, rollout_logp=acted)) < 0.2


# ── actions against their policy ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rows", [2, 50])
def test_surprise_is_minus_log_prob_less_entropy(rows):
    scores = logits(rows, 3)
    dist = Categorical(logits=scores)
    torch.manual_seed(1)
    logp = dist.log_prob(dist.sample())
    gaps, second = [], 0.0
    for row, taken in zip(scores.tolist(), logp.tolist(), strict=True):
        gaps.append(-taken - slow_entropy(row))
        second += (sum(p * math.log(p) ** 2 for p in probabilities(row)) - slow_entropy(row) ** 2) / rows
    mean = sum(gaps) / rows
    error = math.sqrt(sum((each - mean) ** 2 for each in gaps) / (rows - 1)) / math.sqrt(rows)
    update = Update(dist=dist, logp_old=logp, since_rollout=0)
    assert numbers("policy/surprise_gap policy/surprise_error", update) == (about(mean), about(error, rel=1e-4))
    assert number("policy/surprise_spread", update) == about(math.sqrt(second) / math.sqrt(rows), rel=1e-4)


def test_surprise_of_drawn_actions_is_within_its_error_and_of_greedy_ones_below():
    dist = Categorical(logits=logits(5000, 4))
    torch.manual_seed(2)
    drawn = Update(dist=dist, logp_old=dist.log_prob(dist.sample()), since_rollout=0)
    gap, error, spread = numbers("policy/surprise_gap policy/surprise_error policy/surprise_spread", drawn)
    assert abs(gap) < 4 * error
    assert error == about(spread, rel=0.1)
    greedy = Update(dist=dist, logp_old=dist.log_prob(dist.logits.argmax(-1)), since_rollout=0)
    assert number("policy/surprise_gap", greedy) < -10 * error


def test_surprise_says_nothing_about_later_minibatches_or_several_actions_per_row():
    dist, logp = Categorical(logits=torch.zeros(4, 3)), torch.full((4,), -1.0)
    several = Independent(Categorical(logits=torch.zeros(4, 2, 3)), 1)
    for name in ("policy/surprise_gap", "policy/surprise_spread"):
        assert number(name, Update(dist=dist, logp_old=logp, since_rollout=2)) is None
        assert number(name, Update(dist=several, logp_old=logp, since_rollout=0)) is None


@pytest.mark.parametrize("rows", [2, 64])
def test_advantage_pull_is_a_covariance(rows):
    update, old, new = log_prob_update(rows, advantage=random_rows(rows, 5), since_rollout=1)
    weights = update.advantage.tolist()
    mean = sum(weights) / rows
    slow = sum((after - before) * (a - mean) for before, after, a in zip(old, new, weights, strict=True)) / rows
    assert number("policy/advantage_pull", update) == about(slow)
    first = Update(logp_old=update.logp_old, logp_new=update.logp_new, advantage=update.advantage, since_rollout=0)
    assert number("policy/advantage_pull", first) is None


def test_epsilon_is_the_one_handed_over():
    assert number("exploration/epsilon", Update(epsilon=0.3)) == 0.3
