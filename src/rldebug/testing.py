"""For users' own tests: `assert_passes_probes(make_agent)`, `verify("gae", compute_gae)`."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rldebug.evidence.ladder import Ladder
from rldebug.finding import Report
from rldebug.probe import climb_ladder, report_on
from rldebug.probes.agent import Target
from rldebug.render.probe import print_ladder
from rldebug.render.terminal import console, print_report
from rldebug.render.verify import print_verification
from rldebug.verify import examine
from rldebug.verify import report_on as report_on_function


def assert_passes_probes(
    make_agent: str | Callable[..., Any] | Target,
    *,
    probes: Iterable[str] | None = None,
    gamma: float | None = None,
    seeds: int = 5,
    strict: bool = False,
    **more: Any,
) -> Report:
    """Climb the ladder, and raise AssertionError with the ladder and the findings where a rung fails.

    A rung that is undecided fails only when `strict`. `more` is what `rldebug.probe` takes besides: settings, steps,
    seconds, seed, jobs, abilities, whole.
    """
    __tracebackhide__ = True  # pytest: the caller's line is the one of interest
    config = more.pop("config", None)
    ladder = climb_ladder(make_agent, probes=probes, gamma=gamma, seeds=seeds, **more)
    report = report_on(ladder, config)
    unwanted = ("failed", "crashed", *(("undecided",) if strict else ()))
    bad = [f"{each.name} {each.outcome}" for each in ladder.rungs if each.outcome in unwanted]
    if bad or not report.clean:
        said = ", ".join(bad) or "a rule found something"
        raise AssertionError(f"{ladder.target} does not pass its probes: {said}\n\n{in_plain_text(ladder, report)}")
    return report


def verify(component: str, target: Any, *, map: Mapping[str, str] | None = None, **more: Any) -> Report:
    """Compare a function or class with the reference, and raise AssertionError with the smallest case where it differs.

    `more` is what `rldebug.verify` takes besides: drawn, config.
    """
    __tracebackhide__ = True
    config = more.pop("config", None)
    found = examine(component, target, map=map, **more)
    report = report_on_function(found, config)
    if not report.clean:
        said = ", ".join(finding.name for finding in report.findings)
        text = io.StringIO()
        print_verification(found, file=text)
        print_report(report, file=text)
        raise AssertionError(f"{found.target} is not {found.oracle}: {said}\n\n{text.getvalue()}")
    return report


def in_plain_text(ladder: Ladder, report: Report) -> str:
    """What `rldebug probe` prints, without colours."""
    text = io.StringIO()
    print_ladder(console(file=text), ladder)
    print_report(report, file=text)
    return text.getvalue()
