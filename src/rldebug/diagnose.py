"""The one loop: for each evidence, for each rule that reads it; then the ranking and the folding."""

from __future__ import annotations

import dataclasses
import time
import traceback
from collections.abc import Iterable, Mapping
from typing import Any

from rldebug import catalogue
from rldebug.config import Config, ConfigError
from rldebug.evidence.crash import Crash
from rldebug.evidence.run import FACTS, Run
from rldebug.evidence.source import Source
from rldebug.finding import OUT_OF_TIME, Finding, Report, Severity, rank
from rldebug.rule import NotEnough, Rule

_BY_HOOKS = {
    "env/": "pass env= to rldebug.watch(...)",
    "loss/": "pass loss={'policy': …, 'value': …} to dbg.update(...)",
    "user/": "record it with dbg.metric(name, value)",
}
"""Families of readings that no metric computes, and what a user hands over to have them."""

_ORDER, _SURE = ("autograd-graph", "optimizer"), 0.85  # components and confidence of a warning that stays one
_standard: dict[type[Rule], Rule] = {}
_SEEN = ("Script", "Source")  # what is read there was seen to be so; readings of a run are only signs


def diagnose(
    evidences: Iterable[Any],
    *,
    config: Config | None = None,
    command: str = "report",
    title: str = "",
    broken: Mapping[str, str] | None = None,
    until: float | None = None,
) -> Report:
    """Run every chosen rule on every evidence it reads. A rule that raises is listed as broken; the others go on.

    `until`: a time of `time.process_time()` after which rules that have not run are skipped: on a busy machine the wall
    clock would cut off rules that cost nothing.
    """
    chosen = choose(config or Config())
    findings: list[Finding] = []
    checked: set[str] = set()
    skipped: dict[str, str] = {}
    failed = catalogue.broken()
    if isinstance(broken, Mapping):  # from run.json, where a hand may have been at work
        failed |= {str(name): str(trace) for name, trace in broken.items()}
    problems: list[str] = []
    for evidence in evidences:
        problems += getattr(evidence, "problems", ())
        if isinstance(evidence, Run):
            evidence = derive(evidence, failed)
        for rule in chosen:
            if rule.reads != type(evidence).__name__ or _out_of_place(rule, evidence) or not rule.concerns(evidence):
                continue
            reason = lacking(rule, evidence)
            if reason is not None:
                skipped[rule.code] = reason
                continue
            if until is not None and time.process_time() > until:
                skipped[rule.code] = OUT_OF_TIME
                continue
            made: list[Finding] = []
            try:
                for finding in rule.check(evidence):
                    if not isinstance(finding, Finding):
                        raise TypeError(f"check() gave a {type(finding).__name__}, expected findings")
                    made.append(finding)
            except NotEnough as thin:
                if not made:  # else it judged a part of the evidence, one optimizer of two
                    skipped[rule.code] = f"not enough data yet: {thin}"
                    continue
            except Exception:
                failed[rule.code] = traceback.format_exc()
                continue
            if isinstance(evidence, Crash) and evidence.warning:
                made = [_only_warned(each) for each in made if each.code not in {known.code for known in findings}]
            made = list(dict.fromkeys(made))  # two critics learn from one target: it is told once
            if isinstance(evidence, Source):
                made = [each for each in made if evidence.wants(each)]
            findings += made
            checked.add(rule.code)
    return Report(
        command=command,
        findings=rank(fold(findings)),
        checked=tuple(sorted(checked)),
        skipped={code: reason for code, reason in sorted(skipped.items()) if code not in checked | failed.keys()},
        broken=failed,
        title=title,
        problems=tuple(problems),
    )


def _out_of_place(rule: Rule, evidence: Any) -> bool:
    """Warnings of what is not installed: a program that goes on does not need it."""
    return isinstance(evidence, Crash) and evidence.warning and rule.component() == "installation"


def _only_warned(finding: Finding) -> Finding:
    """The same rules judge what ended a program and what it was only warned of. Most warnings are about what may be
    meant; a note, but where the fault would be an error, or a gradient is lost or a step taken out of its order."""
    sure = finding.component in _ORDER and finding.severity == "warning" and finding.confidence >= _SURE
    wrong = finding.severity == "error" and finding.component != "evaluation"  # what is only shown trains nothing
    severity: Severity = "warning" if wrong or sure else "note"
    return dataclasses.replace(finding, severity=severity, seen=f"{finding.seen}; the program went on")


def choose(config: Config) -> tuple[Rule, ...]:
    """The rules a configuration asks for, with its thresholds."""
    selected = {_rule(config, name).code for name in config.select}
    ignored = {_rule(config, name).code for name in config.ignore}
    thresholds: dict[str, dict[str, float]] = {}
    for name, values in config.rules.items():
        rule = _rule(config, name)
        thresholds.setdefault(rule.code, {}).update(_thresholds(config, rule, values))
    return tuple(
        rule(**thresholds[rule.code]) if rule.code in thresholds else _made(rule)
        for rule in catalogue.rules()
        if (rule.code in selected if selected else (rule.status == "stable" or config.nursery))
        and rule.code not in ignored
    )


def _made(rule: type[Rule]) -> Rule:
    """With its own thresholds. It is frozen: all may share it."""
    if rule not in _standard:
        _standard[rule] = rule()
    return _standard[rule]


def _rule(config: Config, name: str) -> type[Rule]:
    for rule in catalogue.rules():
        if name.upper() == rule.code or name.lower() == rule.name:
            return rule
    raise ConfigError(f"{config.source}: no rule called {name!r}{catalogue.nearest(name)}")


def _thresholds(config: Config, rule: type[Rule], values: Mapping[str, Any]) -> dict[str, float]:
    fields = {each.name: each for each in dataclasses.fields(rule)}
    for name, value in values.items():
        if name not in fields:
            expected = f"expected one of {', '.join(fields)}" if fields else "it has none"
            raise ConfigError(f"{config.source}: {rule.name} has no threshold {name!r}, {expected}")
        whole = fields[name].type in ("int", int)  # counts index series: 20.5 readings would break the rule
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or value != value:
            wanted = "a whole number" if whole else "a number"
            raise ConfigError(f"{config.source}: {rule.name}.{name} is {value!r}, expected {wanted}")
    return dict(values)


def lacking(rule: Rule, evidence: Any) -> str | None:
    """Why this rule cannot run on this evidence, with what would have to be handed over; None if it can."""
    if not isinstance(evidence, Run):
        return None
    for need in rule.needs if rule.in_log is None or "log" not in evidence.meta else rule.in_log:
        if need not in evidence:
            how = how_to_enable(need, evidence)
            return f"needs `{need}`" + (f": {how}" if how else "")
    for fact in rule.facts:
        if not any(fact in each.facts for each in evidence.readings):
            return f"needs `{fact}`: {FACTS.get(fact, 'it was not recorded')}"
    return None


def how_to_enable(reading: str, run: Run) -> str:
    """What the user would have to hand over for a reading that this run lacks; empty where nobody can tell."""
    metric = catalogue.metric_named(reading)
    if metric is None:
        return next((how for family, how in _BY_HOOKS.items() if reading.startswith(family)), "")
    if metric.reads is not Run:
        others = (each for each in catalogue.metrics_reading(metric.reads) if each is not metric)
        if metric.needs and any(set(metric.needs) <= set(each.needs) and each.name in run for each in others):
            return "what it is computed from was handed over, but not in a form or at a time that tells"
        return metric.how_to_enable()
    # Computed from other readings: ask for the first of those that is missing, or for what its family is read from.
    missing = [need for need in metric.needs if need not in run]
    if missing:
        return how_to_enable(missing[0], run)
    family = reading.partition("/")[0]
    if any(name.partition("/")[0] == family for name in run.series) or run.table(family):
        return "too little was recorded yet"
    kin = [each for each in catalogue.metrics() if each.reads is not Run and each.name.partition("/")[0] == family]
    return kin[0].how_to_enable() if kin else metric.how_to_enable()


def derive(run: Run, failed: dict[str, str]) -> Run:
    """Add the metrics that are computed from other readings of the same run."""
    more = []
    for metric in catalogue.metrics_reading(Run):
        try:
            if all(need in run for need in metric.needs):
                more += [each for each in metric.compute(run) if len(each)]
        except Exception:
            failed[metric.name] = traceback.format_exc()
    return run.with_series(more)


def fold(findings: Iterable[Finding]) -> list[Finding]:
    """Put each finding under the roots it usually follows from, where those were found too."""
    found = list(findings)
    if not found:
        return []
    present = {finding.code for finding in found if finding.severity != "note"}
    codes = {finding.code for finding in found}
    rules = [rule for rule in catalogue.rules() if rule.code in codes]  # a few of a thousand: no others can be above
    symptoms = {rule.code for rule in rules if rule.symptom}
    above = {rule.code: present - symptoms if rule.symptom else set(rule.follows) for rule in rules}
    seen = present & {rule.code for rule in rules if rule.reads in _SEEN and not rule.aftermath}
    for rule in rules:
        if rule.aftermath:
            above[rule.code] |= seen - symptoms
        for code in rule.explains:
            above.setdefault(code, set()).add(rule.code)

    def reached_from(code: str) -> set[str]:
        reached: set[str] = set()
        ahead = {code}
        while ahead:
            ahead = {parent for each in ahead for parent in above.get(each, ())} & present - reached
            reached |= ahead
        return reached

    ways = {code: reached_from(code) for code in codes}
    # Rules that follow from one another stay side by side: folded under each other, both would vanish.
    over = {code: {each for each in reached if code not in ways[each]} for code, reached in ways.items()}
    return [
        dataclasses.replace(finding, follows=tuple(sorted(code for code in over[finding.code] if not over[code])))
        for finding in found
    ]
