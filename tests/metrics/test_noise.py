import math

import numpy as np
import pytest
import torch

from rldebug.capture.optimizers import WINDOW, adam_moments
from rldebug.diagnose import derive
from rldebug.evidence.run import Run
from rldebug.rollout import AdamMoments, GradientWindow, Step
from tests.metrics.reading import about, number, numbers

SIZE = 200  # parameters
ROWS = 32  # samples per batch


def synthetic(scale, seed=0):
    """A gradient G, and noise of one sample with covariance Σ (diagonal), such that tr(Σ) / |G|² = scale."""
    generator = np.random.default_rng(seed)
    gradient = generator.normal(size=SIZE)
    gradient /= np.linalg.norm(gradient)
    spread = generator.uniform(0.5, 1.5, size=SIZE)
    spread *= math.sqrt(scale / (spread**2).sum())
    return gradient, spread


def batches(gradient, spread, count, generator):
    """Mean gradients of `count` batches of ROWS samples each."""
    return gradient + generator.normal(size=(count, SIZE)) * spread / math.sqrt(ROWS)


def slow_estimate(grads):
    """McCandlish et al. (2018), appendix A.1, in plain loops."""
    small = sum(sum(x * x for x in grad) for grad in grads.tolist()) / len(grads)
    mean = [sum(column) / len(grads) for column in zip(*grads.tolist(), strict=True)]
    big = sum(x * x for x in mean)
    b_small, b_big = ROWS, ROWS * len(grads)
    signal = (b_big * big - b_small * small) / (b_big - b_small)
    trace = (small - big) / (1 / b_small - 1 / b_big)
    return trace, signal


def window(grads):
    small = torch.tensor((grads**2).sum(1).mean())
    big = torch.tensor((grads.mean(0) ** 2).sum())
    return GradientWindow(small, big, ROWS, ROWS * len(grads))


# ── two batch sizes ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_two_batch_sizes_against_the_formula():
    gradient, spread = synthetic(100.0)
    grads = batches(gradient, spread, WINDOW, np.random.default_rng(1))
    trace, signal = slow_estimate(grads)
    assert numbers("noise/trace noise/signal_sq", window(grads)) == (about(trace), about(signal))


@pytest.mark.parametrize("scale", [1.0, 100.0, 3000.0])
def test_two_batch_sizes_are_unbiased(scale):
    gradient, spread = synthetic(scale)
    generator = np.random.default_rng(2)
    found = np.array(
        [
            numbers("noise/trace noise/signal_sq", window(batches(gradient, spread, WINDOW, generator)))
            for _ in range(800)
        ]
    )
    error = found.std(0) / math.sqrt(len(found))
    assert abs(found[:, 0].mean() - scale) < 4 * error[0]
    assert abs(found[:, 1].mean() - 1.0) < 4 * error[1]
    assert found[:, 0].mean() == about(scale, rel=0.02)


def test_scale_is_the_ratio_of_averages_and_not_the_average_of_ratios():
    gradient, spread = synthetic(300.0)
    generator = np.random.default_rng(3)
    pairs = [
        numbers("noise/trace noise/signal_sq", window(batches(gradient, spread, WINDOW, generator))) for _ in range(400)
    ]
    trace, signal = (list(each) for each in zip(*pairs, strict=True))
    run = derive(Run.from_series({"noise/trace": trace, "noise/signal_sq": signal}), {})
    keep = 0.5 ** (1 / 64)
    top = bottom = 0.0
    for i in range(400):
        top, bottom = keep * top + trace[i], keep * bottom + signal[i]  # the same weights above and below
    assert run["noise/scale"].last == about(top / bottom, rel=1e-9)
    assert run["noise/scale"].last == about(300.0, rel=0.15)


def test_scale_of_each_optimizer_and_where_the_signal_drowns():
    run = derive(
        Run.from_series(
            {
                "noise/trace@actor": [10.0, 20.0],
                "noise/signal_sq@actor": [2.0, 2.0],
                "noise/trace@critic": [10.0, 10.0],
                "noise/signal_sq@critic": [-1.0, -1.0],
            }
        ),
        {},
    )
    assert run["noise/scale@actor"].first == about(5.0)
    assert math.isnan(run["noise/scale@critic"].last)


# ── from Adam's moments ─────────────────────────────────────────────────────────────────────────────────────────────


def adam_step(moments, rows=ROWS):
    return Step("optimizer", (), (), (), (), 1e-3, moments=moments, rows=rows)


def test_adam_estimate_against_the_formula():
    generator = np.random.default_rng(4)
    beta1, beta2, steps = 0.9, 0.99, 150
    first, second = np.zeros(SIZE), np.zeros(SIZE)
    for grad in generator.normal(size=(steps, SIZE)):
        first = beta1 * first + (1 - beta1) * grad
        second = beta2 * second + (1 - beta2) * grad**2
    weights = [(1 - beta1) * beta1 ** (steps - 1 - t) / (1 - beta1**steps) for t in range(steps)]
    left = sum(each * each for each in weights)  # what is left of the noise in the first moment
    m = first / (1 - beta1**steps)
    v = second / (1 - beta2**steps)
    noise = sum((v[k] - m[k] ** 2) / (1 - left) for k in range(SIZE))
    signal = sum(m[k] ** 2 for k in range(SIZE)) - left * noise
    halves = [torch.tensor(each) for each in np.split(first, 2)], [torch.tensor(each) for each in np.split(second, 2)]
    step = adam_step(AdamMoments(*halves, beta1, beta2, steps))
    assert numbers("noise/adam_trace noise/adam_signal_sq", step) == (
        about(ROWS * noise, rel=1e-4),
        about(signal, rel=1e-3, abs_=1e-3),
    )


def test_adam_says_nothing_in_its_first_steps():
    one = [torch.ones(3)]
    assert number("noise/adam_trace", adam_step(AdamMoments(one, one, 0.9, 0.999, 50))) is None
    assert number("noise/adam_trace", adam_step(AdamMoments(one, one, 0.9, 0.999, 101))) is not None


@pytest.mark.parametrize("scale", [10.0, 100.0, 1000.0])
def test_adam_estimate_agrees_with_two_batch_sizes_on_a_steady_stream(scale):
    """A real Adam with a learning rate of 0 on one stream of gradients; every 8 of them make a window of the other.

    Tolerances: 15 % of the truth for the noise of either, 25 % between the two scales, for batches of at least a
    thirtieth of the noise scale; beyond, the signal is a small difference of large numbers.
    """
    gradient, spread = synthetic(scale)
    generator = np.random.default_rng(5)
    parameter = torch.nn.Parameter(torch.zeros(SIZE))
    optimizer = torch.optim.Adam([parameter], lr=0.0, betas=(0.9, 0.999))
    adam, windows = [], []
    for _ in range(250):
        grads = batches(gradient, spread, WINDOW, generator)
        windows.append(numbers("noise/trace noise/signal_sq", window(grads)))
        for grad in grads:
            parameter.grad = torch.tensor(grad, dtype=torch.float32)
            optimizer.step()
        moments = adam_moments(optimizer, [parameter])
        assert moments is not None
        found = numbers("noise/adam_trace noise/adam_signal_sq", adam_step(moments))
        if None not in found:
            adam.append(found)
    names = ("noise/trace", "noise/signal_sq", "noise/adam_trace", "noise/adam_signal_sq")
    columns = [*zip(*windows, strict=True), *zip(*adam, strict=True)]
    means = dict(zip(names, (float(np.mean(each)) for each in columns), strict=True))
    assert means["noise/adam_trace"] == about(scale, rel=0.15)
    assert means["noise/trace"] == about(scale, rel=0.15)
    one = means["noise/trace"] / means["noise/signal_sq"]
    two = means["noise/adam_trace"] / means["noise/adam_signal_sq"]
    assert two == about(one, rel=0.25)
    assert two == about(scale, rel=0.25)
    run = derive(Run.from_series({"noise/adam_trace": columns[2], "noise/adam_signal_sq": columns[3]}), {})
    assert run["noise/adam_scale"].last == about(scale, rel=0.3)


def test_the_uncorrected_estimate_would_be_far_off():
    """Why the correction for β1 is there: the first moment keeps a nineteenth of the noise."""
    gradient, spread = synthetic(1000.0)
    generator = np.random.default_rng(6)
    first, second = np.zeros(SIZE), np.zeros(SIZE)
    for grad in batches(gradient, spread, 3000, generator):
        first = 0.9 * first + 0.1 * grad
        second = 0.999 * second + 0.001 * grad**2
    fix = 1 - 0.999**3000
    naive = ROWS * (second.sum() / fix - (first**2).sum()) / (first**2).sum()
    assert naive < 500
    step = adam_step(AdamMoments([torch.tensor(first)], [torch.tensor(second)], 0.9, 0.999, 3000))
    trace, signal = numbers("noise/adam_trace noise/adam_signal_sq", step)
    assert trace / signal == about(1000.0, rel=0.5)
