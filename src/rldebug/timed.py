"""From a profile that was recorded to what is said about it: measured against what it could cost, judged, written."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rldebug import catalogue
from rldebug.config import Config, read_config
from rldebug.diagnose import diagnose
from rldebug.evidence.timing import Timing
from rldebug.finding import Report
from rldebug.launch import as_typed
from rldebug.recorded import Recorded, examine

_YARDSTICK = 3.0  # seconds that measuring what it could cost may take


def measured(timing: Timing, folder: Path, problems: list[str]) -> Timing:
    """With what its parts could cost on this machine."""
    from rldebug.evidence.timings.reading import write_yardstick
    from rldebug.yardstick.shelf import measure_all

    found = measure_all(timing, _YARDSTICK, problems)
    write_yardstick(folder, found)
    return dataclasses.replace(timing, yardstick=found)


def judged(timing: Timing, config: Config, problems: list[str], broken: Mapping[str, str]) -> Report:
    if timing.updates and not timing.env_steps:
        problems.append("no environment was recognised: what it takes counts as your own; name it with rldebug.span")
    with catalogue.narrowed(frozenset({"Timing"})):
        report = diagnose([timing], config=config, command="profile", broken=dict(broken))
    return dataclasses.replace(report, problems=(*problems, *timing.problems, *report.problems))


def as_told(timing: Timing) -> dict[str, Any]:
    """For the JSON report: what is in no finding."""
    return {
        "seconds": timing.seconds,
        "start_up": timing.start_up,
        "own": timing.own,
        "env_steps": timing.env_steps,
        "updates": timing.updates,
        "parts": dict(timing.parts),
        "yardstick": {
            name: {"what": each.what, "seconds": each.seconds, "instead": each.instead, "detail": dict(each.detail)}
            for name, each in timing.yardstick.items()
        },
    }


def write_files(timing: Timing, report: Report, files: Mapping[str, Path], say: Callable[[str], None]) -> None:
    """The page, and what other programs open."""
    if "html" in files:
        from rldebug.render.profile_page import write_profile_page

        write_profile_page(timing, report, files["html"])
    if "speedscope" in files:
        from rldebug.render.speedscope import write_speedscope

        write_speedscope(timing, files["speedscope"])
    if "trace" in files:
        from rldebug.render.perfetto import write_trace

        write_trace(timing, files["trace"])
    if "prof" in files:
        from rldebug.render.pstats_file import write_pstats

        write_pstats(timing, files["prof"])
    for name, file in files.items():
        say(f"{'page' if name == 'html' else name}: {as_typed(file)}")


def write_pages(report: Report, seen: Recorded, file: Path, others: Sequence[Recorded] = ()) -> list[Path]:
    """The page of the diagnosis, and beside it that of the profile; this alone, where nothing else was recorded.
    `others` are drawn over it."""
    pages = []
    if seen.timing is None or seen.script is not None or seen.run.readings:
        from rldebug.exhibit import exhibited
        from rldebug.render.page import write_page

        beside = [exhibited(examine(each, read_config(), "report"), each) for each in others]
        write_page(exhibited(report, seen), file, beside)
        pages.append(file)
    if seen.timing is not None:
        from rldebug.render.profile_page import write_profile_page

        pages.append(file.with_stem(f"{file.stem}-profile") if pages else file)
        write_profile_page(seen.timing, report, pages[-1])
    return pages
