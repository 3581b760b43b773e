"""The whole page of a catalogue entry, as markdown: what the terminal, the HTML report and the docs all show."""

from __future__ import annotations

import dataclasses
import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.markdown import Markdown

from rldebug import catalogue
from rldebug.metric import SEEN, Metric
from rldebug.render.terminal import console
from rldebug.rule import Rule

if TYPE_CHECKING:
    from rldebug.probes.probe import Probe


@dataclass(frozen=True)
class Threshold:
    name: str
    default: Any
    meaning: str


def print_page(entry: type[Rule] | Metric | type[Probe]) -> None:
    out = console()
    out.print(Markdown(page(entry)), width=min(out.width, 100))


def page(entry: type[Rule] | Metric | type[Probe]) -> str:
    if isinstance(entry, Metric):
        return metric_page(entry)
    return rule_page(entry) if issubclass(entry, Rule) else probe_page(entry)


def probe_page(probe: type[Probe]) -> str:
    """Title, what it asks, the right answers, its docstring."""
    from rldebug.probes.shelf import env_id

    _, _, body = probe.page().partition("\n")
    solved = probe(0.9).solve()
    facts = {"rung": str(probe.rung), "stands on": f"`{probe.after}`" if probe.after else "nothing", "asks": probe.asks}
    if probe.wants:
        facts["for algorithms with"] = ", ".join(probe.wants)
    if probe.asks == "value":
        pairs = zip(solved.looks, solved.value, strict=True)
        facts["right values at γ = 0.9"] = ", ".join(f"{look} {value:.3g}" for look, value in pairs)
    elif probe.asks == "policy":
        facts["best actions"] = ", ".join(f"{look} {solved.best_action(look):g}" for look in solved.looks)
    made = f'## To play it\n\n`gymnasium.make("rldebug.probes:{env_id(probe.name)}")`'
    return "\n\n".join([f"# {probe.name}", probe.summary(), _bullets(facts), body.strip(), made]) + "\n"


def rule_page(rule: type[Rule]) -> str:
    """Title, what it is, its docstring, its thresholds."""
    _, _, body = rule.page().partition("\n")
    parts = [f"# {rule.code} {rule.name}", rule.summary(), _bullets(rule_facts(rule)), body.strip()]
    thresholds = thresholds_of(rule)
    if thresholds:
        rows = [f"| `{each.name}` | `{each.default!r}` | {_cell(each.meaning)} |" for each in thresholds]
        parts.append(
            "\n".join(["## Thresholds", "", "| threshold | default | meaning |", "|---|---|---|", *rows])
            + f"\n\nSet them in `pyproject.toml`, under `[tool.rldebug.rules.{rule.name}]`."
        )
    return "\n\n".join(part for part in parts if part) + "\n"


def rule_facts(rule: type[Rule]) -> dict[str, str]:
    facts = {"component": rule.component(), "severity": rule.severity}
    if rule.status != "stable":
        facts["status"] = f"{rule.status} (off unless selected)"
    if rule.needs or rule.facts:
        facts["needs"] = ", ".join(f"`{each}`" for each in (*rule.needs, *rule.facts))
    if rule.symptom:
        facts["usually follows from"] = "whatever else is found"
    elif rule.follows or rule.aftermath:
        shown = [_called(code) for code in rule.follows[:4]]
        if rule.aftermath:
            shown.insert(0, "any fault that `rldebug run` has seen in the data")
        more = len(rule.follows[4:])
        facts["usually follows from"] = ", ".join(shown) + (f", and {more} more" if more else "")
    leads = [each for each in catalogue.rules() if rule.code in each.follows]
    if leads:
        shown, more = [f"{each.code} {each.name}" for each in leads[:4]], len(leads[4:])
        facts["usually brings about"] = ", ".join(shown) + (f", and {more} more" if more else "")
    if rule.trap:
        facts["trap"] = f'`rldebug.watch(traps={{"{rule.name}": "raise"}})` stops where it happens'
    return facts


def thresholds_of(rule: type[Rule]) -> list[Threshold]:
    """The fields of a rule; what each means is the comment behind it in the source."""
    if not dataclasses.fields(rule):
        return []
    try:
        source = inspect.getsource(rule)
    except (OSError, TypeError):
        source = ""  # installed without sources
    found = []
    for each in dataclasses.fields(rule):
        comment = re.search(rf"^[ \t]+{each.name}[ \t]*:[^#\n]*#[ \t]*(.+)$", source, re.MULTILINE)
        found.append(Threshold(each.name, each.default, comment[1].strip() if comment else ""))
    return found


def metric_page(metric: Metric) -> str:
    facts = {"unit": metric.unit, "kind": metric.kind}
    if metric.healthy:
        facts["healthy"] = metric.healthy
    facts["from"] = as_code(comes_from(metric)) + (", sampled" if metric.detail else "")
    users = [rule for rule in catalogue.rules() if set(rule.needs) & set(metric.names)]
    if users:
        facts["read by"] = ", ".join(f"{each.code} {each.name}" for each in users)
    title = "# " + " · ".join(f"`{name}`" for name in metric.names)
    return "\n\n".join([title, metric.page(), _bullets(facts)]) + "\n"


def comes_from(metric: Metric) -> str:
    """What has to be handed over for a metric to be recorded, as a call."""
    call = str(getattr(metric.reads, "handed_over_by", ""))
    if not call:
        return f"computed from {', '.join(metric.needs)}" if metric.needs else "computed from other readings"
    if metric.needs == ("resident",):
        return "every run"
    if not call.startswith("dbg."):
        return call  # what such a metric needs is not an argument but something the hooks see
    given = [f"{need}=…" for need in metric.needs if need not in SEEN]
    after = " after dbg.rollout(...)" if {"since_rollout", "rollout_logp"} & set(metric.needs) else ""
    bounded = " with rldebug.watch(env=...)" if "action_low" in metric.needs else ""
    return (call.replace("...", ", ".join(given)) if given else call) + after + bounded


def as_code(call: str) -> str:
    return f"`{call}`" if call.startswith(("dbg.", "rldebug.")) else call


def _bullets(facts: dict[str, str]) -> str:
    return "\n".join(f"- **{key}**: {value}" for key, value in facts.items())


def _called(code: str) -> str:
    try:
        return f"{code} {catalogue.find(code).name}"
    except catalogue.Unknown:
        return code


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
