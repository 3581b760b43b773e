"""A recent episode, as the critic saw it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rldebug.finding import thousands
from rldebug.render.chart import number
from rldebug.render.shown import Charts, Section, Shown, e


def sections(main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    found = newest(main)
    if found is None:
        return
    charts = Charts("trace")
    spec = {"kind": "trace", **{key: [number(each) for each in found[key]] for key in ("value", "reward", "end")}}
    what = str(found.get("what") or "V(s)")
    yield charts.done(
        "A recent episode, as the critic saw it",
        f"<p>One environment, the newest steps before update {thousands(int(found['update']))}: "
        f'<b class="key-value">{e(what)}</b> as a line, <b class="key-reward">rewards</b> as bars. Healthy: the value '
        "climbs towards rewards, and drops as they are collected. Dotted lines end an episode; dashed ones cut it "
        f"off.</p>{charts(spec, 'value trace')}",
    )


def newest(shown: Shown) -> Mapping[str, Any] | None:
    latest = next((each for each in reversed(shown.run.readings) if "trace/value" in each.traces), None)
    if latest is None:
        return shown.trace
    traces = latest.traces
    return {
        "update": latest.update,
        "value": traces["trace/value"],
        "reward": traces.get("trace/reward", ()),
        "end": traces.get("trace/end", ()),
    }
