from pathlib import Path

import pytest

from rldebug import catalogue

TESTS = "\n".join(
    file.read_text(encoding="utf-8")
    for file in Path(__file__).parent.glob("test_*.py")
    if file.name != Path(__file__).name
)
METRICS = catalogue.metrics()


@pytest.mark.parametrize("metric", METRICS, ids=lambda each: each.name)
def test_every_metric_is_measured_in_something(metric):
    assert metric.unit


@pytest.mark.parametrize("metric", METRICS, ids=lambda each: each.name)
def test_every_metric_says_what_it_is_in_a_sentence(metric):
    page = metric.page()
    assert page, f"{metric.name} has no docstring"
    sentence = page.split("\n\n")[0]
    assert sentence.rstrip().endswith("."), f"{metric.name}: {sentence!r}"
    assert not metric.summary()[0].islower()


@pytest.mark.parametrize("metric", METRICS, ids=lambda each: each.name)
def test_every_metric_has_a_test_that_names_it(metric):
    missing = [name for name in metric.names if name not in TESTS]
    assert not missing


def test_names_are_unique_and_have_a_family():
    names = [name for metric in METRICS for name in metric.names]
    assert len(names) == len(set(names))
    assert all("/" in name or name in ("layers", "layer_gradients", "parameters") for name in names)
