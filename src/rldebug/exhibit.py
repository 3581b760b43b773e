"""From everything recorded of a run to what a page shows of it.

What needs the catalogue, and with it torch, is worked out by `told` as plain data: in this process for a file, in one
of its own for the dashboard. `shown` puts it together with the readings, and needs neither.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rldebug.evidence.run import Run, Series
from rldebug.finding import Report
from rldebug.recorded import Recorded
from rldebug.render.known import Known
from rldebug.render.shown import Shown

_REFERENCE = {"actor-critic": "a2c", "policy-gradient": "vpg", "q-learning": "dqn", "actor-critic-off-policy": "sac"}
_LINES = 20_000  # of a program's file; more are nobody's


def exhibited(report: Report, seen: Recorded) -> Shown:
    """All of it, here and now."""
    from rldebug.evidence.ladder_file import read_ladders

    return shown(seen.run, told(report, seen), timing=seen.timing, ladders=tuple(read_ladders(_probes(seen))))


def shown(run: Run, told: Mapping[str, Any] | None, **more: Any) -> Shown:
    """The readings, and what `told` has said; None: nothing yet."""
    if told is None:
        return Shown(run, **more)
    derived = [
        Series(name, np.array(at, np.int64), np.array(steps, np.int64), np.array(values, np.float64))
        for name, (at, steps, values) in told["derived"].items()
    ]
    return Shown(
        run.with_series(derived),
        Known.from_dict(told["known"]),
        Report.from_dict(told["report"]),
        graph=told["graph"],
        settings=told["settings"],
        trace=told["trace"],
        source=told["source"],
        **more,
    )


def told(report: Report, seen: Recorded) -> dict[str, Any]:
    """As plain data that JSON can hold."""
    from rldebug.diagnose import derive
    from rldebug.render.known import known_of

    problems = list(report.problems)
    derived = derive(seen.run, {}).series
    return {
        "derived": {
            name: [each.update.tolist(), each.env_step.tolist(), each.value.tolist()]
            for name, each in derived.items()
            if name not in seen.run.series
        },
        "known": known_of(report).to_dict(),
        "graph": _graph(seen, problems),
        "settings": _settings(report, seen),
        "trace": _trace(seen),
        "source": _source(report, seen),
        "report": {**report.to_dict(), "title": report.title, "problems": problems},
    }


def _graph(seen: Recorded, problems: list[str]) -> str:
    if seen.graph is None or not seen.graph.losses:
        return ""
    from rldebug.render.graph import svg

    try:
        return svg(seen.graph)
    except ImportError:
        problems.append("the backward graph is not drawn: pip install 'rldebug[graph]'")
        return ""


def _trace(seen: Recorded) -> dict[str, Any] | None:
    if seen.script is None:
        return None
    from rldebug.forensics.value_trace import value_trace

    try:
        found = value_trace(seen.script)
    except Exception:
        return None  # a script that cannot be made sense of; the rules say what they lack
    if found is None:
        return None
    plain = {name: np.asarray(getattr(found, name), dtype=float).tolist() for name in ("value", "reward", "end")}
    return {"update": int(found.update), "what": found.what, **plain}


def _settings(report: Report, seen: Recorded) -> dict[str, Any] | None:
    """The program's hyperparameters beside the reference's, where there is a reference of its kind."""
    from rldebug.evidence.given import HyperparametersError
    from rldebug.evidence.hyperparameters import compare
    from rldebug.render.hyperparameters import shown as in_words
    from rldebug.settings import choose
    from rldebug.train import find, names, presets

    family = str((report.program or {}).get("family") or "")
    family = _REFERENCE.get(family, family)
    env = seen.run.meta.get("env")
    name = str(env.get("id")) if isinstance(env, Mapping) else ""
    if not family or not seen.sources:
        return None
    try:
        if family not in names():
            return None
        module = find(family)
        known = presets(family).get(name)
        settings = choose(module.Settings, known) if known is not None else module.Settings
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, Path(seen.sources[0].file).name)
            file.write_text(seen.sources[0].text, encoding="utf-8")
            compared = compare(family, settings, file, name if known is not None else None)
    except (HyperparametersError, LookupError, ValueError, OSError, SyntaxError):
        return None
    return {
        "algorithm": family,
        "env": name if known is not None else None,
        "rows": [
            {
                "name": each.name,
                "given_as": each.given_as,
                "line": each.line,
                "yours": in_words(each.yours),
                "reference": in_words(each.reference),
                "same": each.same,
                "verdict": each.verdict,
            }
            for each in compared.rows
        ],
        "missing": [
            {"name": each.name, "value": in_words(each.value), "reason": each.reason} for each in compared.missing
        ],
    }


def _source(report: Report, seen: Recorded) -> dict[str, list[str]]:
    """The files that findings point at, under the names that these have for them."""
    wanted = {each.where.file for each in report.findings if each.where.file}
    lines = {each.file: list(each.lines[:_LINES]) for each in seen.sources}
    by_name = {Path(file).name: text for file, text in lines.items()}
    return {file: lines.get(file) or by_name[Path(file).name] for file in wanted if Path(file).name in by_name}


def _probes(seen: Recorded) -> Path:
    return (seen.run.path or Path()).absolute().parent.parent / "probes"
