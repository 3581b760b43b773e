"""A report, or one finding, in a cell of a notebook: HTML that needs nothing from elsewhere, or plain text."""

from __future__ import annotations

import dataclasses
import linecache
import sys
from importlib.resources import files

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Report, Where
from rldebug.render.known import Known, known_of
from rldebug.render.sections.diagnosis import article, verdict
from rldebug.render.shown import Shown
from rldebug.render.terminal import block, render


def html(what: Report | Finding) -> str:
    """Styled by a sheet of its own, so that it looks the same in every front end; where that is taken away, as in the
    preview of a code-hosting site, it still reads in order."""
    report = _as_in_cells(what if isinstance(what, Report) else Report("explain", (what,)))
    shown = Shown(Run.of([]), known=_found_only(known_of(report)), report=report, source=_cells(what))
    if isinstance(what, Report):
        told = verdict(report, shown, _no_chart)
    else:
        told = article(report.findings[0], report, shown, _no_chart)
    style = files("rldebug.render").joinpath("cell.css").read_text(encoding="utf-8")
    return f'<div class="rldebug-cell"><style>{style}</style>{told}</div>'


def text(what: Report | Finding) -> str:
    report = _as_in_cells(what if isinstance(what, Report) else Report("explain", (what,)))
    return (render(report) if isinstance(what, Report) else block(report.findings[0])).plain.rstrip("\n")


def _no_chart(spec: object, label: str) -> str:
    return ""


def _found_only(known: Known) -> Known:
    """The names of hundreds of rules that ran would be saved with the notebook, for each report in it."""
    return dataclasses.replace(known, rules={code: each for code, each in known.rules.items() if each.page})


def _as_in_cells(report: Report) -> Report:
    """Files of cells, as IPython calls them: In[3]."""
    named = [dataclasses.replace(each, where=_in_cell(each.where)) for each in report.findings]
    return dataclasses.replace(report, findings=tuple(named))


def _in_cell(where: Where) -> Where:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    told = shell.compile.format_code_name(where.file) if shell is not None and where.file else None
    return dataclasses.replace(where, file=str(told[1])) if told else where


def _cells(what: Report | Finding) -> dict[str, list[str]]:
    """The lines of cells. Of a file they are not shown: it may have changed since."""
    found = what.findings if isinstance(what, Report) else (what,)
    lines = {}
    for where in (each.where for each in found if each.where.file):
        kept = linecache.cache.get(str(where.file))
        if kept is not None and len(kept) == 4 and kept[1] is None:  # no time of change: it never was a file
            lines[str(_in_cell(where).file)] = [each.rstrip("\n") for each in kept[2]]
    return lines
