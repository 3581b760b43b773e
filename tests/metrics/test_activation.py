import math
import statistics

import pytest
import torch

from rldebug.evidence.run import Reading, Run
from rldebug.metrics.activation import GRADIENT_COLUMNS, LAYER_COLUMNS, dead, saturated
from rldebug.rollout import ActivationGradients, Activations
from tests.metrics.reading import about, random_rows, vector


def slow_row(output, kind):
    rows = output.reshape(output.shape[0], -1).tolist()
    flat = [each for row in rows for each in row]
    units = list(zip(*rows, strict=True))
    row = {
        "mean": sum(flat) / len(flat),
        "std": statistics.pstdev(flat),
        "absmax": max(abs(each) for each in flat),
        "dead": math.nan,
        "saturated": math.nan,
    }
    if len(rows) >= 16 and kind in ("ReLU", "ReLU6"):
        row["dead"] = sum(all(each == 0 for each in unit) for unit in units) / len(units)
    if len(rows) >= 16 and kind in ("Tanh", "Sigmoid"):
        low = 0.0 if kind == "Sigmoid" else -1.0
        row["saturated"] = sum(all(each > 0.99 or each < low + 0.01 for each in unit) for unit in units) / len(units)
    return [row[name] for name in LAYER_COLUMNS]


def make(kind, rows, *rest, seed=0):
    x = random_rows(rows * math.prod(rest), seed, scale=2.0).reshape(rows, *rest)
    x.reshape(rows, -1)[:, 0] = -9.0  # one unit that is always far below 0
    return {"ReLU": torch.relu, "Tanh": torch.tanh, "Sigmoid": torch.sigmoid, "Linear": lambda each: each}[kind](x)


@pytest.mark.parametrize("kind", ["ReLU", "Tanh", "Sigmoid", "Linear"])
@pytest.mark.parametrize("shape", [(1, 4), (15, 4), (16, 4), (64, 3, 2, 2)])
def test_table_of_layers(kind, shape):
    output = make(kind, *shape)
    names, cells = vector("layers", Activations({"policy.1": output}, {"policy.1": kind}))
    assert names == ["policy.1"]
    assert cells[0].tolist() == [about(each) for each in slow_row(output, kind)]


def test_hand_worked_units():
    alive = torch.linspace(0.0, 1.0, 16)
    output = torch.stack([torch.zeros(16), alive, torch.zeros(16), torch.ones(16)], dim=1)
    _, cells = vector("layers", Activations({"a": output, "b": 2 * output - 1}, {"a": "ReLU", "b": "Tanh"}))
    assert cells[0, LAYER_COLUMNS.index("dead")] == 0.5
    assert cells[1, LAYER_COLUMNS.index("saturated")] == 0.75


@pytest.mark.parametrize("shape", [(1, 4), (16, 4), (5, 3, 4), (8, 3, 2, 2)])
def test_table_of_gradients(shape):
    gradient = random_rows(math.prod(shape), 0).reshape(shape)
    gradient[..., 0] = 0.0
    names, cells = vector("layer_gradients", ActivationGradients({"policy.1": gradient}))
    assert names == ["policy.1"]
    rows = gradient.reshape(-1, shape[-1]) if len(shape) == 3 else gradient.reshape(shape[0], -1)
    flat = rows.reshape(-1).tolist()
    row = dict(zip(GRADIENT_COLUMNS, cells[0].tolist(), strict=True))
    assert row["norm"] == about(math.sqrt(sum(each * each for each in flat)))
    assert row["absmax"] == about(max(abs(each) for each in flat))
    units = list(zip(*rows.tolist(), strict=True))
    assert row["without"] == about(sum(all(each == 0 for each in unit) for unit in units) / len(units))


def run_of(*tables):
    return Run.of(Reading(i, 64 * i, float(i), {}, tables={"layers": table} if table else {}) for i, table in
                  enumerate(tables))  # fmt: skip


def test_worst_layer_over_time():
    nan = math.nan
    run = run_of(
        {"a": [0.0, 1.0, 1.0, 0.25, nan], "b": [0.0, 1.0, 1.0, 0.75, nan], "c": [0.0, 1.0, 1.0, nan, 0.5]},
        None,
        {"a": [0.0, 1.0, 1.0, 0.5, nan], "b": [0.0, 1.0, 1.0, 0.0, nan]},
    )
    (worst,) = dead(run)
    assert (worst.name, worst.update.tolist(), worst.value.tolist()) == ("layers/dead", [0, 2], [0.75, 0.5])
    (worst,) = saturated(run)
    assert (worst.name, worst.update.tolist(), worst.value.tolist()) == ("layers/saturated", [0], [0.5])


def test_networks_without_such_layers_have_no_worst_one():
    run = run_of({"a": [0.0, 1.0, 1.0, math.nan, math.nan]})
    assert len(dead(run)[0]) == len(saturated(run)[0]) == 0
