"""Walks the shelves; finds an entry by code or name. Nothing is registered by hand: a file on a shelf is an entry."""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
import re
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from rldebug.entry import CODE, NAME, PREFIXES
from rldebug.metric import Metric
from rldebug.rule import Rule

if TYPE_CHECKING:
    from rldebug.probes.probe import Probe


_READS = re.compile(r'^    reads\b[^=\n]*= "(\w+)"', re.M)


class Unknown(KeyError):
    """No entry of that code or name; the message names the nearest ones."""

    def __str__(self) -> str:
        return str(self.args[0])


_narrowed: list[frozenset[str]] = []


@contextmanager
def narrowed(kinds: frozenset[str] | None) -> Iterator[None]:
    """Within, only rules that read such evidence are there; None: all. The others are not even imported, which takes
    longer than running them."""
    before = list(_narrowed)
    _narrowed[:] = [] if kinds is None else [kinds]
    try:
        yield
    finally:
        _narrowed[:] = before


def rules() -> tuple[type[Rule], ...]:
    """Every rule on our shelf and on the shelves of installed packages (entry point group `rldebug.rules`)."""
    return _shelves(*_narrowed)[0]


def broken() -> dict[str, str]:
    """Shelves and rules of installed packages that cannot be used, and why. They never stop the others."""
    return dict(_shelves(*_narrowed)[1])


@lru_cache(maxsize=4)
def _shelves(reads: frozenset[str] | None = None) -> tuple[tuple[type[Rule], ...], dict[str, str]]:
    found = {rule.code: rule for rule in _rules_on("rldebug.rules", reads)}
    if reads is None or "Verification" in reads:
        from rldebug.oracles.rules import rules as mistakes

        found |= {rule.code: rule for rule in mistakes()}
    failed: dict[str, str] = {}
    for point in entry_points(group="rldebug.rules"):
        try:
            guests = _rules_on(point.module)
        except Exception:
            failed[f"rldebug.rules entry point {point.name!r}"] = traceback.format_exc()
            continue
        for rule in guests:
            reason = _unusable(rule, found)
            if reason is None:
                found[rule.code] = rule
            else:
                failed[f"{rule.__module__}.{rule.__qualname__}"] = reason
    return tuple(found[code] for code in sorted(found)), failed


def _rules_on(shelf: str, reads: frozenset[str] | None = None) -> list[type[Rule]]:
    return [
        item
        for module in _walk(shelf, reads)
        for item in vars(module).values()
        if inspect.isclass(item) and issubclass(item, Rule) and item.__module__ == module.__name__
    ]


def _unusable(guest: type[Rule], found: Mapping[str, type[Rule]]) -> str | None:
    """Why a rule from outside cannot join: its code would change what a report means, or it cannot be made."""
    code, name = getattr(guest, "code", None), getattr(guest, "name", None)
    if not isinstance(code, str) or not CODE.fullmatch(code) or code[:3] not in PREFIXES:
        return f"code is {code!r}, expected three letters of a component and three digits, like ENT001"
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return f"name is {name!r}, expected a kebab-case name, like entropy-collapse"
    for other in found.values():
        if other is not guest and (other.code == code or other.name == name):
            return f"{code} {name} is taken by {other.__module__}: {other.code} {other.name}"
    try:
        guest()
    except Exception as error:
        return f"{guest.__name__}() cannot be made without arguments: {error}"
    return None


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


@lru_cache(maxsize=4096)
def metric_named(name: str) -> Metric | None:
    return next((each for each in metrics() if each.covers(name)), None)


def probes() -> tuple[type[Probe], ...]:
    """The rungs of the ladder, from the lowest up."""
    from rldebug.probes.shelf import probes  # brings Gymnasium along, which reading a run does not need

    return probes()


def find(code_or_name: str) -> type[Rule] | Metric | type[Probe]:
    """The entry with this code or name, in any case."""
    wanted = code_or_name.strip()
    for rule in rules():
        if wanted.upper() == rule.code or wanted.lower() == rule.name:
            return rule
    metric = metric_named(wanted)
    if metric is not None:
        return metric
    for probe in probes():
        if wanted.lower() == probe.name:
            return probe
    raise Unknown(f"no entry called {wanted!r}{nearest(wanted)}")


def nearest(wanted: str) -> str:
    names = [name for rule in rules() for name in (rule.code, rule.name)]
    names += [name for metric in metrics() for name in metric.names]
    names += [probe.name for probe in probes()]
    from rldebug.oracles.shelf import oracles

    if wanted.lower() in {each.name for each in oracles()}:
        return f"; it is a component: `rldebug verify {wanted.lower()} --list` tells what it knows about it"
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(close)}?" if close else "; `rldebug catalogue` lists them all"


def _walk(package: str, reads: frozenset[str] | None = None) -> Iterator[ModuleType]:
    root = importlib.import_module(package)
    yield root
    path = getattr(root, "__path__", ())  # a shelf from outside may be a single module
    for info in sorted(pkgutil.walk_packages(path, f"{package}."), key=lambda each: each.name):
        if reads is None or info.ispkg or reads & _read_in(info):
            yield importlib.import_module(info.name)


def _read_in(info: pkgutil.ModuleInfo) -> set[str]:
    """Which evidence the rules of a file read, by its text; where that does not say, what most do."""
    file = Path(getattr(info.module_finder, "path", ""), f"{info.name.rpartition('.')[2]}.py")
    try:
        return set(_READS.findall(file.read_text(encoding="utf-8"))) or {"Run"}
    except OSError:
        return {"Run"}
