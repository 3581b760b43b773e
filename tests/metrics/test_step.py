import math

import numpy as np
import pytest
import torch

from rldebug.metrics.step import PARAMETER_COLUMNS
from rldebug.rollout import Step
from tests.metrics.reading import NAN, about, number, numbers, random_rows, vector

SHAPES = [(4, 3), (4,), (2, 3, 2, 2), (1,)]


def make_step(missing=(), zero=(), still=(), dtype=torch.float32, seed=0):
    before = [random_rows(math.prod(s), seed + i, dtype).reshape(s) for i, s in enumerate(SHAPES)]
    after = [each + 0.1 * random_rows(each.numel(), 50 + i, dtype).reshape(each.shape) for i, each in enumerate(before)]
    grads = [random_rows(each.numel(), 90 + i, dtype).reshape(each.shape) for i, each in enumerate(before)]
    for i in zero:
        grads[i] = torch.zeros_like(grads[i])
    for i in still:
        after[i] = before[i].clone()
    return Step(
        optimizer="optimizer",
        names=tuple(f"layer{i}" for i in range(len(SHAPES))),
        before=before,
        after=after,
        grads=[None if i in missing else each for i, each in enumerate(grads)],
        learning_rate=3e-4,
    )


def entries(tensors):
    return [each for tensor in tensors for each in tensor.reshape(-1).tolist()]


def slow_norm(values):
    return math.sqrt(sum(each * each for each in values))


CASES = [
    {},
    {"missing": (1,)},
    {"zero": (0, 3)},
    {"still": (2,)},
    {"missing": (0,), "zero": (2,), "still": (1, 3)},
    {"dtype": torch.float64},
]


@pytest.mark.parametrize("case", CASES)
def test_gradients_as_a_whole(case):
    step = make_step(**case)
    present = [each for each in step.grads if each is not None]
    each = entries(present)
    zero = sum(all(x == 0 for x in entries([grad])) for grad in present) / len(present)
    assert number("grad/norm", step) == about(slow_norm(each))
    assert number("grad/rms", step) == about(math.sqrt(sum(x * x for x in each) / len(each)))
    assert number("grad/zero_tensors", step) == about(zero)
    assert number("grad/missing", step) == len(case.get("missing", ()))
    assert number("grad/absmax", step) == about(max(abs(x) for x in each))


@pytest.mark.parametrize("case", CASES)
def test_steps_as_a_whole(case):
    step = make_step(**case)
    moved = [after - before for before, after in zip(step.before, step.after, strict=True)]
    each = entries(moved)
    assert number("step/norm", step) == about(slow_norm(each))
    assert number("step/rms", step) == about(math.sqrt(sum(x * x for x in each) / len(each)))
    assert number("step/absmax", step) == about(max(abs(x) for x in each))
    weights = slow_norm(entries(step.after))
    assert number("step/log10_ratio", step) == about(math.log10(slow_norm(each) / weights), rel=1e-4)
    assert number("weight/norm", step) == about(weights)
    pushed = stayed = 0
    for change, grad in zip(moved, step.grads, strict=True):
        if grad is not None and any(entries([grad])):
            pushed += 1
            stayed += not any(entries([change]))
    assert number("step/unchanged", step) == about(stayed / pushed)


def test_without_any_gradient():
    step = make_step(missing=range(len(SHAPES)))
    assert numbers("grad/norm grad/absmax", step) == (None, None)
    assert number("step/unchanged", step) == NAN
    assert number("step/norm", step) > 0


def test_when_every_gradient_is_zero_nothing_was_pushed():
    step = make_step(zero=range(len(SHAPES)), still=range(len(SHAPES)))
    assert numbers("grad/norm grad/zero_tensors step/norm", step) == (0.0, 1.0, 0.0)
    assert number("step/unchanged", step) == NAN
    assert number("step/log10_ratio", step) == -math.inf


def test_a_nan_shows_in_gradient_and_step():
    step = make_step()
    step.grads[2].view(-1)[3] = math.nan
    step.after[1].view(-1)[0] = math.nan
    for name in ("grad/norm", "grad/rms", "grad/absmax", "step/norm", "step/absmax", "weight/norm"):
        assert number(name, step) == NAN


def test_learning_rate_is_the_first_groups():
    assert number("optimizer/lr", make_step()) == 3e-4


def test_parameters_of_mixed_precision():
    parameters = [torch.ones(3, 2, dtype=torch.float16), torch.ones(4)]
    step = Step("optimizer", ("half", "full"), parameters, [2 * each for each in parameters],
                [each.clone() for each in parameters], 1e-3)  # fmt: skip
    length = about(math.sqrt(10), rel=1e-3)  # half precision has three digits
    assert numbers("grad/norm step/norm grad/absmax", step) == (length, length, 1.0)


@pytest.mark.parametrize("case", CASES)
def test_table_of_parameters(case):
    step = make_step(**case)
    step.grads[2] is None or step.grads[2][0].zero_()  # one dead output unit of two
    names, cells = vector("parameters", step)
    assert names == [f"layer{i}" for i in range(len(SHAPES))]
    for i, row in enumerate(cells.tolist()):
        before, after, grad = step.before[i].numpy(), step.after[i].numpy(), step.grads[i]
        expected = {
            "step_norm": float(np.sqrt(((after - before) ** 2).sum())),
            "weight_norm": float(np.sqrt((after**2).sum())),
            "weight_mean": float(after.mean()),
            "weight_std": float(after.std()),
            "grad_norm": math.nan,
            "grad_absmax": math.nan,
            "zero_rows": math.nan,
        }
        if grad is not None:
            each = grad.numpy()
            expected["grad_norm"] = float(np.sqrt((each**2).sum()))
            expected["grad_absmax"] = float(np.abs(each).max())
            if each.ndim > 1:
                expected["zero_rows"] = sum(not unit.any() for unit in each) / len(each)
        assert row == [about(expected[name]) for name in PARAMETER_COLUMNS]
