"""What is wrong: the suspects, every finding with its page, what the program computes, what was not looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import dedent

from markdown_it import MarkdownIt  # rich brings it

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Report
from rldebug.render.known import Known
from rldebug.render.program import lines
from rldebug.render.sections.tiles import still, tile
from rldebug.render.shown import Charts, Draw, Section, Shown, details, e
from rldebug.render.terminal import count, gain, headline, place

_EVIDENCE = 3  # charts inside a finding
_AROUND = 2  # lines of the program above and below the one that a finding points at


def sections(main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    charts = Charts("diagnosis")
    if main.report is None:
        yield charts.done("Diagnosis", '<p class="verdict">not looked at yet …</p>')
        return
    yield charts.done("Diagnosis", verdict(main.report, main, charts) + _of_others(others))


def verdict(report: Report, shown: Shown, draw: Draw) -> str:
    suspects = "".join(
        f'<li><span class="name">{e(each.component)}</span>'
        f'<span class="bar"><i style="width:{each.score:.0%}"></i></span>'
        f'<span class="score">{each.score:.2f}</span> <span class="codes">{e(" ".join(each.codes))}</span></li>'
        for each in report.suspects
    )
    found, looked = headline(report)
    computes = "".join(f"<li>{e(each)}</li>" for each in lines(report.program)) if report.program else ""
    return (
        f'<p class="verdict {"clean" if report.clean else "guilty"}"><b>{e(found)}</b>{e(looked)}</p>'
        + (f'<h3>Suspects</h3><ol class="suspects">{suspects}</ol>' if suspects else "")
        + "".join(article(each, report, shown, draw) for each in report.roots)
        + (f'<h3>What the program computes</h3><ul class="program">{computes}</ul>' if computes else "")
        + "".join(f'<p class="problem">{e(each)}</p>' for each in report.problems)
        + "".join(
            f'<details class="problem"><summary>rldebug\'s own {e(name)} failed and was switched off</summary>'
            f"<pre>{e(trace)}</pre></details>"
            for name, trace in report.broken.items()
        )
        + _unchecked(report, shown.known)
    )


def article(finding: Finding, report: Report, shown: Shown, draw: Draw) -> str:
    faster = "" if finding.speedup is None else f"<dt>gain</dt><dd>the whole run {gain(finding.speedup)} as fast</dd>"
    followers = [each for each in report.folded if finding.code in each.follows]
    folded = "".join(
        f"<li><b>{e(each.code)}</b> {e(each.message)} <em>{e(each.name)}</em><br><span>{e(each.seen)}</span></li>"
        for each in followers
    )
    note = shown.known.rule(finding.code)
    tiles = "".join(tile(each, shown, draw) for each in _evidence(note.needs, shown.run)[:_EVIDENCE])
    under, page = f"{count(len(followers), 'finding')} folded under it", f"the page of {finding.code}"
    return (
        f'<article class="finding {e(finding.severity)}" id="{e(finding.code)}">'
        f'<h3><span class="severity">{e(finding.severity)}[{e(finding.code)}]</span> {e(finding.message)} '
        f"<em>{e(finding.name)}</em></h3>"
        f'<p class="where">{e(place(finding.where))}</p>{_lines(finding, shown)}'
        f'<dl class="block"><dt>seen</dt><dd>{e(finding.seen)}</dd><dt>expected</dt><dd>{e(finding.expected)}</dd>'
        f'{faster}<dt class="help">help</dt><dd>{e(finding.help)}</dd></dl>'
        + (f'<div class="tiles">{tiles}</div>' if tiles else "")
        + (details(under, f"<ul>{folded}</ul>", f"folded {finding.code}") if folded else "")
        + (details(page, markdown(note.page), f"page {finding.code}") if note.page else "")
        + "</article>"
    )


def _evidence(needs: Sequence[str], run: Run) -> list[str]:
    return [each.name for need in needs for each in run.each(need) if still(each) is None]


def _lines(finding: Finding, shown: Shown) -> str:
    """The line of the program that it points at, and those around it."""
    where = finding.where
    text = shown.source.get(where.file or "", ())
    if where.line is None or not 0 < where.line <= len(text):
        return ""
    end = where.end_line or where.line
    first, last = max(where.line - _AROUND, 1), min(end + _AROUND, len(text))
    lines = dedent("\n".join(each[:200] for each in text[first - 1 : last])).split("\n")
    rows = "".join(
        f'<span class="{"at" if where.line <= number <= end else ""}"><i>{number}</i>{e(line) or " "}</span>'
        for number, line in enumerate(lines, first)
    )
    return f'<pre class="source" tabindex="0">{rows}</pre>'


def _of_others(others: Sequence[Shown]) -> str:
    """Several runs are compared: what was found in each of them."""
    rows = "".join(
        f"<li><b>{e(each.title)}</b> {e(headline(each.report)[0]) if each.report else 'not looked at yet …'} "
        + " ".join(f'<span class="codes">{e(found.code)} {e(found.message)}</span>' for found in _roots(each))
        + "</li>"
        for each in others
    )
    return f'<h3>Beside it</h3><ul class="beside">{rows}</ul>' if rows else ""


def _roots(shown: Shown) -> Sequence[Finding]:
    return shown.report.roots if shown.report is not None else ()


def _unchecked(report: Report, known: Known) -> str:
    reasons: dict[str, list[str]] = {}
    for code, reason in report.skipped.items():
        reasons.setdefault(reason, []).append(code)
    rows = "".join(
        f"<tr><td>{e(reason)}</td><td>{', '.join(_named(code, known) for code in codes)}</td></tr>"
        for reason, codes in sorted(reasons.items(), key=lambda each: -len(each[1]))
    )
    table = f'<div class="scroll" tabindex="0"><table><tr><th>lacked</th><th>rules</th></tr>{rows}</table></div>'
    skipped = details(f"{count(len(report.skipped), 'rule')} could not run, and what each lacked", table, "skipped")
    ran = ", ".join(_named(code, known) for code in report.checked)
    return (skipped if rows else "") + details(f"{count(len(report.checked), 'rule')} ran", f"<p>{ran}</p>", "ran")


def _named(code: str, known: Known) -> str:
    note = known.rule(code)
    return f'<span class="entry-name" title="{e(note.summary)}">{e(code)} {e(note.name)}</span>'


def markdown(text: str) -> str:
    """HTML inside the text stays text, and only harmless links become links."""
    html: str = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    return f'<div class="entry">{html}</div>'
