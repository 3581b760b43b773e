"""Where the time went, by component, and what the GPU was doing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rldebug.evidence.timing import PARTS, Timing
from rldebug.render.profile import gpu
from rldebug.render.profile_chart import hues
from rldebug.render.profile_rows import brief, in_seconds, rows
from rldebug.render.shown import Section, Shown, e


def sections(main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    timing = main.timing
    if timing is None or not timing.slices:
        return
    colours = hues(timing)
    found = [each for each in rows(timing) if not each.within]
    most = max((each.percent for each in found), default=1.0) or 1.0
    body = "".join(
        f'<tr><th title="{e(PARTS.get(each.name, ""))}">{e(each.name)}</th><td class="share"><i style="'
        f"--h:{colours.get(each.name, (210, 8))[0]};--s:{colours.get(each.name, (210, 8))[1]}%;"
        f'width:{100 * each.percent / most:.1f}%"></i></td><td>{each.percent:.1f} %</td>'
        f"<td>{in_seconds(each.seconds)}</td><td>{e(each.per)}</td></tr>"
        for each in found
    )
    table = f'<div class="scroll" tabindex="0"><table class="numbers time">{body}</table></div>'
    yield Section(
        "time",
        "Where the time went",
        f"<p>All of the {brief(timing.seconds)} from the first step on; `rldebug report RUN --html` writes a page with "
        f"stacks and lines beside this one.</p>{table}{_gpu(timing)}",
    )


def _gpu(timing: Timing) -> str:
    said = dict(gpu(timing)).get("GPU", "")
    return f"<p><b>{e(timing.host.gpu)}</b> {e(said)}</p>" if timing.host.gpu or said else ""
