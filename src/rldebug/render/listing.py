"""The catalogue as tables and as JSON."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from rldebug import catalogue
from rldebug.finding import COMPONENTS
from rldebug.metric import Metric
from rldebug.render.explain import comes_from, thresholds_of
from rldebug.render.terminal import SEVERITY_STYLE, console
from rldebug.rule import Rule


def chosen_rules(component: str | None) -> tuple[type[Rule], ...]:
    if component is not None and component not in COMPONENTS:
        close = difflib.get_close_matches(component, COMPONENTS, n=2, cutoff=0.4)
        hint = f"did you mean {' or '.join(close)}?" if close else f"one of: {', '.join(COMPONENTS)}"
        raise catalogue.Unknown(f"no component called {component!r}; {hint}")
    return tuple(rule for rule in catalogue.rules() if component in (None, rule.component()))


def print_rules(rules: Sequence[type[Rule]]) -> None:
    table = _table("code", "name", "component", "severity", "summary")
    for rule in rules:
        nursery = "" if rule.status == "stable" else " (nursery)"
        cells = (rule.code, rule.name, rule.component(), rule.severity, rule.summary().rstrip(".") + nursery)
        styles = ("bold", "", "", SEVERITY_STYLE[rule.severity], "")
        table.add_row(*(Text(cell, style=style) for cell, style in zip(cells, styles, strict=True)))
    console(wide=True).print(table)
    console(stderr=True).print(f"{len(rules)} rules · rldebug explain CODE shows the page of one", style="dim")


def print_metrics(metrics: Sequence[Metric]) -> None:
    table = _table("metric", "unit", "from", "healthy")
    for metric in metrics:
        first, *others = metric.names
        family = first.partition("/")[0]
        name = first + "".join(f" ·{each.removeprefix(family)}" for each in others)
        table.add_row(*(Text(cell) for cell in (name, metric.unit, comes_from(metric), metric.healthy)))
    console(wide=True).print(table)
    count = sum(len(metric.names) for metric in metrics)
    console(stderr=True).print(f"{count} readings · rldebug explain NAME shows the page of one", style="dim")


def print_json(records: Sequence[dict[str, Any]]) -> None:
    sys.stdout.write(json.dumps(records, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def rule_record(rule: type[Rule]) -> dict[str, Any]:
    return {
        "code": rule.code,
        "name": rule.name,
        "component": rule.component(),
        "severity": rule.severity,
        "status": rule.status,
        "summary": rule.summary(),
        "reads": rule.reads,
        "needs": list(rule.needs),
        "facts": list(rule.facts),
        "follows": list(rule.follows),
        "trap": rule.trap,
        "thresholds": [
            {"name": each.name, "default": each.default, "meaning": each.meaning} for each in thresholds_of(rule)
        ],
        "page": rule.page(),
    }


def metric_record(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "names": list(metric.names),
        "kind": metric.kind,
        "unit": metric.unit,
        "reads": metric.reads.__name__,
        "needs": list(metric.needs),
        "from": comes_from(metric),
        "healthy": metric.healthy,
        "detail": metric.detail,
        "summary": metric.summary(),
        "page": metric.page(),
    }


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column in ("code", "name", "component", "severity"))
    return table
