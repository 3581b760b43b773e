"""Where runs part: the first update at which a reading differs, and what differs first in the data flow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rldebug.evidence.diff import Comparison, Parting, compare
from rldebug.evidence.run import RunError
from rldebug.finding import thousands
from rldebug.render.shown import Section, Shown, details, e

_SHOWN = 8  # readings that differ at the first update


def sections(main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    if others:
        yield Section("comparison", "Where the runs part", "".join(_beside(main, each) for each in others))


def partings(main: Shown, others: Sequence[Shown]) -> list[dict[str, Any]]:
    """To be marked on the time axis."""
    marks: list[dict[str, Any]] = []
    for each in others:
        try:
            parting = compare(main.run, each.run).parting
        except RunError:
            continue
        if parting is not None:
            marks.append({"update": parting.update, "env_step": parting.env_step, "code": "part", "severity": "soft"})
    return marks


def _beside(main: Shown, other: Shown) -> str:
    title = f"<h3>{e(main.title)} and {e(other.title)}</h3>"
    try:
        found = compare(main.run, other.run)
    except RunError as error:
        return f"{title}<p>{e(error)}</p>"
    if found.parting is None:
        said = f"<p>The same on {thousands(found.common)} updates recorded in both, {found.metrics} readings.</p>"
    else:
        said = _parting(found.parting, found)
    return title + said + _settings(found)


def _parting(parting: Parting, found: Comparison) -> str:
    first = parting.differences[0]
    where = f", in the {e(first.stage)}" if first.stage != "yours" else ""
    rows = "".join(
        f"<tr><th>{e(each.name)}</th><td>{_n(each.a)}</td><td>{_n(each.b)}</td><td>{e(each.stage)}</td></tr>"
        for each in parting.differences[:_SHOWN]
    )
    more = len(parting.differences) - _SHOWN
    noise = "<p>Differences this small can be float noise.</p>" if parting.small else ""
    return (
        f"<p>They part at update <b>{thousands(parting.update)}</b> ({thousands(parting.env_step)} env steps): "
        f"<b>{e(first.name)}</b> first{where}.</p>"
        '<div class="scroll" tabindex="0"><table class="numbers"><tr><td></td>'
        f"<th>{e(found.names[0])}</th><th>{e(found.names[1])}</th><th>stage</th></tr>{rows}</table></div>"
        + (f"<p>And {more} more at the same update.</p>" if more > 0 else "")
        + noise
    )


def _settings(found: Comparison) -> str:
    if not found.settings:
        return ""
    rows = "".join(
        f"<tr><th>{e(key)}</th><td>{_plain(ours)}</td><td>{_plain(theirs)}</td></tr>"
        for key, (ours, theirs) in found.settings.items()
    )
    table = f'<div class="scroll" tabindex="0"><table>{rows}</table></div>'
    return details(f"{len(found.settings)} settings differ", table, f"settings {found.names}")


def _n(value: float | None) -> str:
    return "not taken" if value is None else f"{value:.9g}"


def _plain(value: object) -> str:
    return "–" if value is None else e(str(value)[:300])
