"""How these tests read a metric: by its name, through the catalogue, on one piece of evidence."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from rldebug import catalogue

NAN = pytest.approx(float("nan"), nan_ok=True)


def number(name: str, evidence: Any) -> float | None:
    """One number of a metric, or None where the metric says nothing about this evidence."""
    metric = catalogue.metric_named(name)
    assert metric is not None, f"no metric called {name}"
    assert metric.kind == "number"
    assert isinstance(evidence, metric.reads), f"{name} reads {metric.reads.__name__}"
    missing = [need for need in metric.needs if getattr(evidence, need) is None]
    assert not missing, f"{name} needs {missing}"
    with torch.no_grad():
        value = metric.compute(evidence)
    if value is None:
        return None
    values = value if isinstance(value, tuple) else (value,)
    found = dict(zip(metric.names, values, strict=True))[name]
    return float(found)


def numbers(names: str, evidence: Any) -> tuple[float | None, ...]:
    """Several numbers at once, names separated by spaces."""
    return tuple(number(name, evidence) for name in names.split())


def vector(name: str, evidence: Any) -> Any:
    """A table, histogram or trace."""
    metric = catalogue.metric_named(name)
    assert metric is not None, f"no metric called {name}"
    assert metric.kind != "number"
    with torch.no_grad():
        return metric.compute(evidence)


def about(value: float, rel: float = 1e-5, abs_: float = 1e-6) -> Any:
    return pytest.approx(value, rel=rel, abs=abs_, nan_ok=True)


def random_rows(rows: int, seed: int, dtype: torch.dtype = torch.float32, scale: float = 1.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return scale * torch.randn(rows, generator=generator, dtype=dtype)
