"""The one loop: for each evidence, for each rule that reads it; then the ranking and the folding."""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Iterable, Mapping
from typing import Any

from rldebug import catalogue
from rldebug.config import Config, ConfigError
from rldebug.evidence.run import FACTS, Run
from rldebug.finding import Finding, Report, rank
from rldebug.rule import NotEnough, Rule


def diagnose(
    evidences: Iterable[Any],
    *,
    config: Config | None = None,
    command: str = "report",
    title: str = "",
    broken: Mapping[str, str] | None = None,
) -> Report:
    """Run every chosen rule on every evidence it reads. A rule that raises is listed as broken; the others go on."""
    chosen = choose(config or Config())
    findings: list[Finding] = []
    checked: set[str] = set()
    skipped: dict[str, str] = {}
    failed: dict[str, str] = dict(broken or {})
    problems: list[str] = []
    for evidence in evidences:
        if isinstance(evidence, Run):
            problems += evidence.problems
            evidence = derive(evidence, failed)
        for rule in chosen:
            if rule.reads != type(evidence).__name__:
                continue
            reason = lacking(rule, evidence)
            if reason is not None:
                skipped[rule.code] = reason
                continue
            try:
                findings += rule.check(evidence)
                checked.add(rule.code)
            except NotEnough as thin:
                skipped[rule.code] = f"not enough data yet: {thin}"
            except Exception:
                failed[rule.code] = traceback.format_exc()
    return Report(
        command=command,
        findings=rank(fold(findings)),
        checked=tuple(sorted(checked)),
        skipped={code: reason for code, reason in sorted(skipped.items()) if code not in checked},
        broken=failed,
        title=title,
        problems=tuple(problems),
    )


def choose(config: Config) -> tuple[Rule, ...]:
    """The rules a configuration asks for, with its thresholds."""
    known = {name: rule for rule in catalogue.rules() for name in (rule.code, rule.name)}

    def code(name: str) -> str:
        if name not in known:
            raise ConfigError(f"{config.source}: no rule called {name!r}{catalogue.nearest(name)}")
        return known[name].code

    selected = {code(name) for name in config.select}
    ignored = {code(name) for name in config.ignore}
    thresholds = {code(name): values for name, values in config.rules.items()}
    chosen = []
    for rule in catalogue.rules():
        wanted = rule.code in selected if selected else (rule.status == "stable" or config.nursery)
        if not wanted or rule.code in ignored:
            continue
        values = thresholds.get(rule.code, {})
        fields = {each.name: each for each in dataclasses.fields(rule)}
        for name, value in values.items():
            if name not in fields:
                raise ConfigError(
                    f"{config.source}: {rule.name} has no threshold {name!r}, expected one of {', '.join(fields)}"
                )
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ConfigError(f"{config.source}: {rule.name}.{name} is {value!r}, expected a number")
        chosen.append(rule(**values))
    return tuple(chosen)


def lacking(rule: Rule, evidence: Any) -> str | None:
    """Why this rule cannot run on this evidence, with what would have to be handed over; None if it can."""
    if not isinstance(evidence, Run):
        return None
    for need in rule.needs:
        if need not in evidence:
            metric = catalogue.metric_named(need)
            return f"needs `{need}`" + (f": {metric.how_to_enable()}" if metric else "")
    for fact in rule.facts:
        if not any(fact in each.facts for each in evidence.readings):
            return f"needs `{fact}`: {FACTS.get(fact, 'it was not recorded')}"
    return None


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
    present = {finding.code for finding in found if finding.severity != "note"}
    above = {rule.code: set(rule.follows) for rule in catalogue.rules()}

    def ancestors(code: str, seen: frozenset[str] = frozenset()) -> set[str]:
        parents = (above.get(code, set()) & present) - seen
        return parents.union(*(ancestors(each, seen | {code}) for each in parents)) if parents else set()

    folded = []
    for finding in found:
        over = ancestors(finding.code) - {finding.code}
        roots = {code for code in over if not (ancestors(code) - {code, finding.code})}
        folded.append(dataclasses.replace(finding, follows=tuple(sorted(roots or over))))
    return folded
