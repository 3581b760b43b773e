import itertools
import math

import pytest
import torch
import torch.nn.functional as F

from rldebug.rollout import Update
from tests.metrics.reading import NAN, about, number, numbers, random_rows

VALUE = "loss/value_mismatch loss/value_outer_mismatch"
POLICY = "loss/policy_mismatch loss/policy_flipped_mismatch loss/policy_outer_mismatch"


def regression(errors):
    """Every usual regression loss, on a list of errors."""
    squares = [each * each for each in errors]
    hubers = [0.5 * each * each if abs(each) < 1 else abs(each) - 0.5 for each in errors]
    means = [sum(squares) / len(errors), 0.5 * sum(squares) / len(errors), sum(hubers) / len(errors)]
    return means + [each * len(errors) for each in means]


def nearest(loss, forms, scale):
    return min(abs(each - loss) / (scale + 1e-12) for each in forms)


def value_update(loss, value, target):
    return Update(loss={"value": torch.as_tensor(loss)}, value=value, target=target)


# ── value ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rows", [2, 7, 64])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("loss", [0.3, 5.0, 400.0])
def test_distance_to_the_nearest_regression_loss(rows, dtype, loss):
    value, target = random_rows(rows, 0, dtype), random_rows(rows, 1, dtype, scale=3.0)
    v, t = value.tolist(), target.tolist()
    on_rows = nearest(loss, regression([a - b for a, b in zip(v, t, strict=True)]), loss)
    on_pairs = nearest(loss, regression([a - b for a, b in itertools.product(v, t)]), loss)
    assert numbers(VALUE, value_update(loss, value, target)) == (about(on_rows, rel=1e-4), about(on_pairs, rel=1e-4))


FORMS = {
    "mse": lambda v, t: F.mse_loss(v, t),
    "half mse": lambda v, t: 0.5 * F.mse_loss(v, t),
    "huber": lambda v, t: F.smooth_l1_loss(v, t),
    "sum of squares": lambda v, t: F.mse_loss(v, t, reduction="sum"),
    "half the sum": lambda v, t: 0.5 * (v - t).square().sum(),
    "sum of huber": lambda v, t: F.huber_loss(v, t, reduction="sum"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_every_usual_value_loss_is_recognised_and_so_is_its_broadcast(form):
    value, target = random_rows(32, 0), random_rows(32, 1, scale=3.0)
    right, outer = numbers(VALUE, value_update(FORMS[form](value, target), value, target))
    assert right < 1e-5 < outer
    wrong, broadcast = numbers(VALUE, value_update(FORMS[form](value[:, None], target), value, target))
    assert broadcast < 1e-4 < wrong


def test_value_loss_that_says_nothing():
    value, target = random_rows(8, 0), random_rows(8, 1)
    assert number("loss/value_mismatch", Update(value=value, target=target)) is None
    assert number("loss/value_mismatch", value_update(1.0, value[:1], target[:1])) is None
    many = torch.zeros(5000)
    assert number("loss/value_mismatch", value_update(1.0, many, many)) is None


def test_a_nan_loss_shows():
    value, target = random_rows(8, 0), random_rows(8, 1)
    assert numbers(VALUE, value_update(math.nan, value, target)) == (NAN, NAN)


# ── policy ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def surrogate(ratio, weight, clip):
    return min(ratio * weight, min(max(ratio, 1 - clip), 1 + clip) * weight)


def policy_forms(logp, logp_old, advantage, clip, pairs):
    """What a gain could be, on rows or on all pairs of them; the loss is its negative."""
    rows = len(logp)
    mean = sum(advantage) / rows
    std = math.sqrt(sum((each - mean) ** 2 for each in advantage) / (rows - 1))
    index = list(itertools.product(range(rows), repeat=2)) if pairs else [(i, i) for i in range(rows)]
    forms = []
    for weights in (advantage, [(each - mean) / (std + 1e-8) for each in advantage]):
        kinds = [[logp[i] * weights[j] for i, j in index]]
        if logp_old is not None:
            ratios = [math.exp(new - old) for new, old in zip(logp, logp_old, strict=True)]
            kinds.append([ratios[i] * weights[j] for i, j in index])
            kinds.append([surrogate(ratios[i], weights[j], clip) for i, j in index])
        for terms in kinds:
            average = sum(terms) / len(terms)
            forms += [average, average * rows] + ([average * rows**2] if pairs else [])
    return forms


@pytest.mark.parametrize("rows", [2, 7, 24])
@pytest.mark.parametrize("clip", [None, 0.1])
@pytest.mark.parametrize("with_old", [True, False])
@pytest.mark.parametrize("loss", [-0.02, 0.4, -30.0])
def test_distance_to_the_nearest_policy_loss(rows, clip, with_old, loss):
    logp, advantage = -random_rows(rows, 0).abs(), random_rows(rows, 1, scale=2.0)
    old = -random_rows(rows, 2).abs() if with_old else None
    update = Update(loss={"policy": torch.tensor(loss)}, logp_new=logp, logp_old=old, advantage=advantage, clip=clip)
    plain = (logp.tolist(), None if old is None else old.tolist(), advantage.tolist(), clip or 0.2)
    gains, outer = policy_forms(*plain, pairs=False), policy_forms(*plain, pairs=True)
    scale = max(sum(abs(each) for each in plain[2]) / rows, abs(loss))
    slow = (
        nearest(loss, [-each for each in gains], scale),
        nearest(loss, gains, scale),
        nearest(loss, [-each for each in outer], scale),
    )
    assert numbers(POLICY, update) == tuple(about(each, rel=1e-3, abs_=1e-5) for each in slow)


def clipped(logp, old, advantage, clip=0.2):
    ratio = (logp - old).exp()
    return torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)


def normalised(advantage):
    return (advantage - advantage.mean()) / (advantage.std() + 1e-8)


GAINS = {
    "log-prob": lambda logp, old, advantage: logp * advantage,
    "ratio": lambda logp, old, advantage: (logp - old).exp() * advantage,
    "clipped": clipped,
    "normalised log-prob": lambda logp, old, advantage: logp * normalised(advantage),
    "normalised clipped": lambda logp, old, advantage: clipped(logp, old, normalised(advantage)),
}


@pytest.mark.parametrize("reduce", [torch.mean, torch.sum])
@pytest.mark.parametrize("gain", GAINS)
def test_every_usual_policy_loss_is_recognised_with_its_sign_and_its_broadcast(gain, reduce):
    logp, old, advantage = -random_rows(32, 0).abs(), -random_rows(32, 1).abs(), 1.0 + random_rows(32, 2)

    def read(loss):
        return numbers(POLICY, Update(loss={"policy": loss}, logp_new=logp, logp_old=old, advantage=advantage))

    right, flipped, outer = read(-reduce(GAINS[gain](logp, old, advantage)))
    assert right < 1e-5
    assert flipped > 1e-3
    assert outer > 1e-4
    right, flipped, _ = read(reduce(GAINS[gain](logp, old, advantage)))
    assert flipped < 1e-5 < right
    right, _, outer = read(-reduce(GAINS[gain](logp[:, None], old[:, None], advantage[None, :])))
    if "normalised log" not in gain:  # there the mean over all pairs is 0, whatever the rows are
        assert outer < 1e-4 < right


def test_policy_loss_that_says_nothing():
    assert number("loss/policy_mismatch", Update(logp_new=torch.zeros(4), advantage=torch.ones(4))) is None
    one = Update(loss={"policy": torch.tensor(1.0)}, logp_new=torch.zeros(1), advantage=torch.ones(1))
    assert number("loss/policy_mismatch", one) is None
