import math

import numpy as np
import pytest
import torch

from rldebug import catalogue
from rldebug.metrics.histogram import BINS, LAYERS, histogram
from rldebug.rollout import Activations, Rollout, Step, Update
from tests.metrics.reading import about, random_rows, vector


def slow_histogram(values):
    low, high = min(values), max(values)
    counts = [0] * BINS
    for each in values:
        place = int((each - low) / (high - low) * BINS) if high > low else 0
        counts[min(place, BINS - 1)] += 1
    return [low, high, *counts]


@pytest.mark.parametrize("rows", [1, 2, 7, 300, 4096])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_counts_in_equal_bins(rows, dtype):
    values = random_rows(rows, 0, dtype)
    found = histogram(values).tolist()
    slow = slow_histogram(values.float().tolist())
    assert found[:2] == [about(slow[0]), about(slow[1])]
    assert found[2:] == slow[2:]
    assert found[2:] == np.histogram(values.float().numpy(), bins=BINS)[0].tolist() or rows == 1


@pytest.mark.parametrize("constant", [0.0, 0.1, -3.0, 1e9])
def test_a_constant_is_one_bin(constant):
    found = histogram(torch.full((50,), constant)).tolist()
    assert found[:2] == [about(constant), about(constant)]
    assert found[2:] == [50.0] + [0.0] * (BINS - 1)


def test_both_ways_of_counting_agree():
    """By `histc` on the host, by comparison on a device."""
    x = random_rows(1000, 0)
    low, high = x.aminmax()
    place = ((x - low) / (high - low) * BINS).floor().clamp(0, BINS - 1)
    counts = (place[:, None] == torch.arange(BINS)).float().sum(0)
    assert histogram(x)[2:].tolist() == counts.tolist()


def test_a_nan_shows_in_the_bounds():
    found = histogram(torch.tensor([1.0, math.nan, 2.0])).tolist()
    assert math.isnan(found[0])
    assert math.isnan(found[1])


def test_large_tensors_are_thinned_evenly():
    values = torch.arange(100_000.0)
    found = histogram(values)
    assert 4096 <= found[2:].sum() <= 8192
    assert found[2:].max() - found[2:].min() <= 2


def test_each_histogram_is_of_what_it_says():
    update = Update(value=random_rows(64, 0), target=random_rows(64, 1), advantage=random_rows(64, 2))
    assert vector("histogram/value", update).tolist() == histogram(update.value).tolist()
    assert vector("histogram/target", update).tolist() == histogram(update.target).tolist()
    assert vector("histogram/advantage", update).tolist() == histogram(update.advantage).tolist()
    reward = random_rows(60, 5).reshape(20, 3)
    assert vector("histogram/reward", Rollout(reward=reward)).tolist() == histogram(reward).tolist()


def test_weights_and_gradients_of_all_parameters():
    before = [random_rows(6, 0).reshape(2, 3), random_rows(4, 1)]
    after, grads = [each + 1.0 for each in before], [random_rows(6, 2).reshape(2, 3), None]
    step = Step("optimizer", ("w", "b"), before, after, grads, 1e-3)
    weights = [each for tensor in after for each in tensor.reshape(-1).tolist()]
    assert vector("histogram/weight", step).tolist() == [about(each) for each in slow_histogram(weights)]
    expected = slow_histogram(grads[0].reshape(-1).tolist())
    assert vector("histogram/gradient", step).tolist() == [about(each) for each in expected]
    assert vector("histogram/gradient", Step("optimizer", ("w", "b"), before, after, [None, None], 1e-3)) is None


def network(layers):
    names = [name for i in range(layers) for name in (f"{i}.weight", f"{i}.bias")]
    after = [random_rows(12 if i % 2 == 0 else 3, i).reshape((4, 3) if i % 2 == 0 else (3,)) for i in range(2 * layers)]
    grads = [None if i == 1 else 2.0 * each for i, each in enumerate(after)]
    return Step("optimizer", tuple(names), after, after, grads, 1e-3)


def test_weights_and_gradients_of_each_parameter():
    step = network(3)
    names, rows = vector("histogram/weight/…", step)
    assert names == list(step.names)
    assert rows.tolist() == [histogram(each).tolist() for each in step.after]
    names, rows = vector("histogram/gradient/…", step)
    assert names == [each for each in step.names if each != "0.bias"], "one without a gradient has no histogram"
    assert rows.tolist() == [histogram(each).tolist() for each in step.grads if each is not None]


def test_of_many_parameters_the_matrices_from_the_first_to_the_last():
    names, rows = vector("histogram/weight/…", network(13))
    assert names == [f"{i}.weight" for i in range(13)]
    names, rows = vector("histogram/weight/…", network(100))
    assert len(names) == len(set(names)) == len(rows) == LAYERS
    places = [int(each.removesuffix(".weight")) for each in names]
    assert (places[0], places[-1]) == (0, 99)
    assert max(np.diff(places)) <= 5


def test_nothing_to_count():
    empty = [torch.empty(0, 3)]
    assert vector("histogram/weight/…", Step("optimizer", ("w",), empty, empty, [None], 1e-3)) is None
    assert vector("histogram/gradient/…", Step("optimizer", ("w",), empty, empty, [None], 1e-3)) is None


def test_what_each_layer_puts_out():
    outputs = {"policy.0": random_rows(60, 0).reshape(20, 3), "policy.1": random_rows(40, 1).reshape(20, 2).half()}
    names, rows = vector("histogram/activation/…", Activations(outputs, dict.fromkeys(outputs, "Linear")))
    assert names == list(outputs)
    assert rows.tolist() == [histogram(each).tolist() for each in outputs.values()]


def test_a_reading_of_one_of_many_has_the_page_of_all():
    metric = catalogue.metric_named("histogram/weight/policy.0.weight")
    assert metric is not None
    assert metric.name == "histogram/weight/…"
    assert catalogue.metric_named("histogram/weight").name == "histogram/weight"
    assert catalogue.metric_named("histogram/weightless") is None
