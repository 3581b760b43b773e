"""What the catalogue says about metrics and rules, as plain data: whoever draws a page needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rldebug.finding import Report


@dataclass(frozen=True)
class MetricNote:
    summary: str = ""
    unit: str = ""
    healthy: str = ""


@dataclass(frozen=True)
class RuleNote:
    name: str = ""
    summary: str = ""
    needs: tuple[str, ...] = ()  # the readings it looks at
    page: str = ""  # markdown; only of rules that found something


@dataclass(frozen=True)
class Known:
    metrics: Mapping[str, MetricNote] = field(default_factory=dict)
    rules: Mapping[str, RuleNote] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of the tables in a run

    def metric(self, name: str) -> MetricNote:
        return self.metrics.get(name, MetricNote())

    def rule(self, code: str) -> RuleNote:
        return self.rules.get(code, RuleNote())

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Known:
        return Known(
            metrics={name: MetricNote(**each) for name, each in data["metrics"].items()},
            rules={code: RuleNote(**{**each, "needs": tuple(each["needs"])}) for code, each in data["rules"].items()},
            columns={name: tuple(each) for name, each in data["columns"].items()},
        )


def known_of(report: Report | None) -> Known:
    """Asks the catalogue, which imports torch."""
    from rldebug import catalogue
    from rldebug.metrics.activation import GRADIENT_COLUMNS, LAYER_COLUMNS
    from rldebug.metrics.step import PARAMETER_COLUMNS
    from rldebug.render.explain import rule_page

    found = {each.code for each in report.findings} if report is not None else set()
    named = found | {*report.checked, *report.skipped} if report is not None else found
    return Known(
        metrics={
            # Unit and shape are those of the first name.
            name: MetricNote(each.summary(), *((each.unit, each.healthy) if name == each.name else ("", "")))
            for each in catalogue.metrics()
            for name in each.names
        },
        rules={
            each.code: RuleNote(
                each.name, each.summary(), tuple(each.needs), rule_page(each) if each.code in found else ""
            )
            for each in catalogue.rules()
            if each.code in named
        },
        columns={"parameters": PARAMETER_COLUMNS, "layers": LAYER_COLUMNS, "layer_gradients": GRADIENT_COLUMNS},
    )
