"""The probe matrix: how algorithms did on problems with known answers, as `rldebug probe` kept it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rldebug.evidence.ladder import Rung
from rldebug.render.probe import MARKS, SAID
from rldebug.render.shown import Section, Shown, details, e

if TYPE_CHECKING:
    from rldebug.evidence.ladder_file import Kept

_TARGETS = 6  # the newest


def sections(main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    whole = [each for each in main.ladders if each.ladder is not None][:_TARGETS]
    damaged = "".join(f'<p class="problem">{e(each.problem)}</p>' for each in main.ladders if each.ladder is None)
    if not whole and not damaged:
        return
    names: dict[str, Rung] = {}
    for each in whole:
        if each.ladder is not None:
            names |= {rung.name: rung for rung in each.ladder.rungs if rung.name not in names}
    rungs = sorted(names.values(), key=lambda each: each.number)
    heads = "".join(f"<th>{e(each.target)}</th>" for each in whole)
    body = "".join(
        f'<tr><th title="{e(rung.title)}">{e(rung.name)}</th>{"".join(_cell(each, rung.name) for each in whole)}</tr>'
        for rung in rungs
    )
    table = f'<div class="scroll" tabindex="0"><table class="probes"><tr><td></td>{heads}</tr>{body}</table></div>'
    yield Section("probes", "Probes with known answers", (_tallies(whole) + table if whole else "") + damaged)


def _tallies(whole: Sequence[Kept]) -> str:
    rows = []
    for each in whole:
        assert each.ladder is not None
        failed = [rung for rung in each.ladder.rungs if rung.outcome == "failed"]
        passed = sum(rung.outcome == "passed" for rung in each.ladder.rungs)
        said = f"{passed} passed, {len(failed)} failed"
        if failed:
            said += f"; the lowest that failed: {failed[0].name} ({failed[0].reason})"
        found = "".join(
            f"<li><b>{e(one.code)}</b> {e(one.message)}<br><span>{e(one.help)}</span></li>"
            for one in (each.report.roots if each.report else ())
        )
        rows.append(f"<p><b>{e(each.target)}</b> {e(said)}</p>")
        if found:
            rows.append(details(f"what that means for {each.target}", f"<ul>{found}</ul>", f"probes {each.target}"))
    return "".join(rows)


def _cell(kept: Kept, name: str) -> str:
    assert kept.ladder is not None
    if name not in kept.ladder:
        return "<td></td>"
    rung = kept.ladder[name]
    word = SAID.get(rung.outcome, rung.outcome)
    return (
        f'<td class="outcome-{e(rung.outcome.replace(" ", "-"))}" title="{e(rung.reason)}">'
        f"{e(MARKS[rung.outcome][0])} {e(word)}</td>"
    )
