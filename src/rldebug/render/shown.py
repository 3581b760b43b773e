"""What a page shows of one run, and what it is made of: sections of escaped HTML with charts as plain numbers.

`rldebug report --html` joins the sections into one file; `rldebug dashboard` sends them while the run goes on. Nothing
here imports torch: the server must stay small.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rldebug.evidence.folder import title_of
from rldebug.evidence.run import Run
from rldebug.evidence.timing import Timing
from rldebug.finding import Report
from rldebug.render.known import Known

if TYPE_CHECKING:
    from rldebug.evidence.ladder_file import Kept

Draw = Callable[[Mapping[str, Any], str], str]
"""Takes what is to be drawn and what it is called; gives the HTML of the place where it will be."""


def inline(file: Path) -> str:
    """A picture as part of the page."""
    return f"data:image/png;base64,{b64encode(file.read_bytes()).decode()}"


@dataclass(frozen=True)
class Shown:
    """One run, as far as it is known by now."""

    run: Run
    known: Known = field(default_factory=Known)
    report: Report | None = None  # None: not judged yet
    timing: Timing | None = None
    graph: str = ""  # an SVG
    settings: Mapping[str, Any] | None = (
        None  # hyperparameters beside the reference's, as evidence/hyperparameters tells
    )
    ladders: Sequence[Kept] = ()
    trace: Mapping[str, Any] | None = None  # of a recent episode, where the run itself has none
    source: Mapping[str, Sequence[str]] = field(default_factory=dict)  # lines of the program's files
    picture: Callable[[Path], str] = inline  # where a picture of the run folder is to be had
    linked: bool = False  # pictures are not part of the page: they are asked for, and may be large
    state: str = ""  # in words, where it is still being read or judged
    partings: Sequence[Mapping[str, Any]] = ()  # where other runs part from it, to be marked

    @property
    def title(self) -> str:
        return title_of(self.run)

    @property
    def folder(self) -> Path | None:
        return self.run.path

    @property
    def family(self) -> str | None:
        program = self.report.program if self.report is not None else None
        return str(program["family"]) if program and program.get("family") else None

    @property
    def going_on(self) -> bool:
        return self.run.meta.get("state") == "running"


@dataclass(frozen=True)
class Section:
    id: str
    title: str
    html: str
    charts: tuple[Mapping[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "title": self.title, "html": self.html, "charts": list(self.charts)}


class Charts:
    """Of one section, in the order in which they stand in its HTML."""

    def __init__(self, section: str) -> None:
        self.section = section
        self.specs: list[Mapping[str, Any]] = []

    def __call__(self, spec: Mapping[str, Any], label: str) -> str:
        self.specs.append(spec)
        place = f"{self.section}.{len(self.specs) - 1}"
        return f'<div class="chart {e(spec["kind"])}" data-chart="{e(place)}" role="img" aria-label="{e(label)}"></div>'

    def done(self, title: str, html: str) -> Section:
        return Section(self.section, title, html, tuple(self.specs))


def e(value: object) -> str:
    """Whatever comes from a run, a docstring or a user may hold anything."""
    return escape(str(value), quote=True)


def details(title: str, html: str, key: str = "") -> str:
    """`key`: by which a page that is drawn anew knows it again, and leaves it open."""
    return f'<details data-key="{e(key or title)}"><summary>{e(title)}</summary>{html}</details>'


def base(name: str) -> str:
    """A reading's name without its optimizer's."""
    return name.partition("@")[0]


def family(name: str) -> str:
    return name.partition("/")[0].partition("@")[0]
