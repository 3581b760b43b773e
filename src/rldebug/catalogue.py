"""Walks the shelves; finds an entry by code or name. Nothing is registered by hand: a file on a shelf is an entry."""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import entry_points
from types import ModuleType

from rldebug.metric import Metric
from rldebug.rule import Rule


class Unknown(KeyError):
    """No entry of that code or name; the message names the nearest ones."""

    def __str__(self) -> str:
        return str(self.args[0])


@lru_cache(maxsize=1)
def rules() -> tuple[type[Rule], ...]:
    """Every rule on our shelf and on the shelves of installed packages (entry point group `rldebug.rules`)."""
    shelves = ["rldebug.rules", *(point.value for point in entry_points(group="rldebug.rules"))]
    found = {
        item.code: item
        for shelf in shelves
        for module in _walk(shelf)
        for item in vars(module).values()
        if inspect.isclass(item) and issubclass(item, Rule) and item.__module__ == module.__name__
    }
    return tuple(found[code] for code in sorted(found))


@lru_cache(maxsize=1)
def metrics() -> tuple[Metric, ...]:
    found = [
        declared
        for module in _walk("rldebug.metrics")
        for item in vars(module).values()
        if isinstance(declared := getattr(item, "metric", None), Metric) and item.__module__ == module.__name__
    ]
    return tuple(sorted(found, key=lambda each: each.name))


def metrics_reading(evidence: type) -> tuple[Metric, ...]:
    return _by_evidence().get(evidence, ())


@lru_cache(maxsize=1)
def _by_evidence() -> dict[type, tuple[Metric, ...]]:
    kinds = {each.reads for each in metrics()}
    return {kind: tuple(each for each in metrics() if each.reads is kind) for kind in kinds}


def metric_named(name: str) -> Metric | None:
    return next((each for each in metrics() if name in each.names), None)


def find(code_or_name: str) -> type[Rule] | Metric:
    """The entry with this code or name, in any case."""
    wanted = code_or_name.strip()
    for rule in rules():
        if wanted.upper() == rule.code or wanted.lower() == rule.name:
            return rule
    metric = metric_named(wanted)
    if metric is not None:
        return metric
    raise Unknown(f"no entry called {wanted!r}{nearest(wanted)}")


def nearest(wanted: str) -> str:
    names = [name for rule in rules() for name in (rule.code, rule.name)]
    names += [name for metric in metrics() for name in metric.names]
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(close)}?" if close else "; `rldebug catalogue` lists them all"


def _walk(package: str) -> Iterator[ModuleType]:
    root = importlib.import_module(package)
    yield root
    for info in sorted(pkgutil.walk_packages(root.__path__, f"{package}."), key=lambda each: each.name):
        yield importlib.import_module(info.name)
