"""Everything in a run folder that can be judged, and the judgement; also of a run that was killed, or still goes on."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rldebug import catalogue
from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.alive import alive
from rldebug.evidence.crash import Crash, read_crash, read_warnings
from rldebug.evidence.folder import title_of
from rldebug.evidence.generations import Generations, read_generations
from rldebug.evidence.graph import Graph, read_graph
from rldebug.evidence.run import Run, read_run
from rldebug.evidence.script import Script, read_script
from rldebug.evidence.source import Source, read_settings, read_sources, together
from rldebug.evidence.timing import Timing
from rldebug.evidence.timings.reading import TimingError, read_timing
from rldebug.finding import Finding, Report
from rldebug.forensics.placed import placed
from rldebug.forensics.program import program_of
from rldebug.forensics.rank_summary import with_ranks
from rldebug.syntax.taken import as_run

_WORKERS = ("gymnasium.", "stable_baselines3.", "torch.utils.data.", "tianshou.", "multiprocessing.", "concurrent.")
_BY_HAND = re.compile(r"(needs `[^`]*`): .*")
_LACKS = "this was not seen in the program"
_ROWS = 64  # of losses, from which on their share is worth telling


@dataclass(frozen=True)
class Recorded:
    """Everything in a run folder that can be judged."""

    run: Run
    script: Script | None
    crash: Crash | None
    problems: tuple[str, ...]
    sources: tuple[Source, ...] = ()
    warned: tuple[Crash, ...] = ()
    graph: Graph | None = None
    timing: Timing | None = None
    generations: Generations | None = None
    elsewhere: tuple[Crash, ...] = ()  # how other ranks failed

    @property
    def empty(self) -> bool:
        """Whether the program came to no step at all, did not fail either, and left the work to no other process."""
        if self.script is None or self.crash is not None or self.run.readings or self.script.noted("thread"):
            return False
        if self.timing is not None and self.timing.slices:
            return False
        return not (self.script.counts.get("updates") or self.script.counts.get("env_steps"))

    @property
    def evidences(self) -> list[Any]:
        # Without a reading every rule that reads a Run would only say what it lacks.
        run = self.run if self.run.readings else None
        timing = self.timing if self.timing is not None and self.timing.slices else None
        graph = self.graph
        if graph is not None and not graph.asked:
            graph = Graph(sizes=graph.sizes) if graph.sizes else None
        several = (*self.elsewhere, *self.warned, *self.sources)
        known = (run, self.script, self.crash, graph, timing, self.generations, *several)
        return [each for each in known if each is not None]


def recorded(folder: Path, *, text: bool = True) -> Recorded:
    """Read it, and the text of the program with it. What cannot be read is named in `problems`; a folder that holds no
    run raises RunError."""
    run, script = read_run(folder), read_script(folder)
    problems = [how_it_stands(run.meta)]
    crash = read_crash(folder)
    elsewhere: tuple[Crash, ...] = ()
    if script is not None and text:
        try:
            script, about_ranks, elsewhere = with_ranks(folder, script)
            problems += about_ranks
        except Exception as error:  # what another process left may be anything
            problems.append(f"its processes were not compared: {type(error).__name__}: {error}")
    if script is not None:
        problems += [unwatched(script), untraced(script), *script.problems]
    if not run.readings:  # else the diagnosis names them
        problems += [each for each in run.problems if not each.startswith("readings.jsonl is missing")]
    sources = tuple(read_sources(folder)) if text else ()
    try:
        timing = read_timing(folder, sources) if text else None
    except TimingError as error:
        timing = None
        problems.append(str(error))
    return Recorded(
        run,
        script,
        crash,
        tuple(each for each in problems if each),
        _as_run(folder, sources, script),
        read_warnings(folder),
        read_graph(folder),
        timing,
        read_generations(folder),
        tuple(each for each in elsewhere if crash is None or each.type != crash.type),
    )


def _as_run(folder: Path, sources: tuple[Source, ...], script: Script | None) -> tuple[Source, ...]:
    """Without branches that an option had switched off."""
    told = [each for each in script.noted("option") if each.get("where") == "argparse"] if script is not None else []
    options = {str(each.get("name")): each.get("value") for each in told}
    settings = read_settings(folder)
    try:
        return tuple(together([as_run(each, settings.get(each.file, {}), options) for each in sources]))
    except RecursionError:
        return sources


def how_it_stands(meta: Mapping[str, Any]) -> str:
    """In words, where the end of a run was not recorded."""
    pid = meta.get("pid")
    if meta.get("state") != "running" or pid == os.getpid():
        return ""
    if alive(pid):
        return f"the program is still running (process {pid}): this is what was seen so far"
    return "the program was killed, or its machine went down: no end was recorded, this is what was seen until then"


def unwatched(script: Script) -> str:
    """In words, where the program had others do a part of its work. Workers of vectorised environments and of data
    loaders are not meant: what they do comes back to the program."""
    started = [each for each in script.noted("thread") if each.get("what") == "process"]
    theirs = {str(each.get("does")): each for each in started if not str(each.get("does")).startswith(_WORKERS)}
    if not theirs:
        return ""
    named = ", ".join(name.removeprefix("__main__.") for name in list(theirs)[:3])
    children = script.noted("child")
    if any(each.get("told") for each in children):
        return f"the program trains in {len(children)} processes ({named}): this is of the one that did most"
    if any("elsewhere" in (each.get("facts") or {}) for each in script.streams):
        return (
            f"processes that the program started ({named}): what their environments return and how their weights move "
            "is in this report, all else is not"
        )
    return f"processes that the program started ({named}) were not watched: what they do is not in this report"


def untraced(script: Script) -> str:
    """In words, where most rows of losses could not be traced to one observation: much was then not judged."""
    rows = unknown = alike = 0
    for audit, term in script.events("term"):
        ids = term.arrays.get("rows", np.empty(0, dtype=np.int64))
        places = audit.nodes.index(ids)
        rows += len(ids)
        unknown += int((places < 0).sum())
        alike += int((audit.nodes.alike[places[places >= 0]] != 0).sum())
    if rows < _ROWS or 2 * (unknown + alike) < rows or not script.streams:
        return ""
    if alike > unknown:
        share = f"{alike / rows:.0%} of the rows of losses look like several"
        return f"observations repeat: {share}; those that nothing else tells apart were not judged"
    return f"{unknown / rows:.0%} of the rows of losses could not be traced to an observation, and were not judged"


def examined(
    folder: Path,
    config: Config,
    command: str,
    *,
    until: float | None = None,
    least: float = 0.0,
    more: Iterable[str] = (),
    broken: Mapping[str, str] | None = None,
    keep: bool = False,
) -> tuple[Report, Recorded]:
    """The diagnosis of a run folder, and what it is of. `until`: on the clock of this process, but `least` seconds for
    the rules in any case. `keep`: what was found is added to the folder."""
    seen = recorded(folder)
    # A rule that is named in a configuration may read anything; of the others only those are imported that can run.
    named = config.select or config.ignore or config.rules
    with catalogue.narrowed(None if named else frozenset(type(each).__name__ for each in seen.evidences)):
        catalogue.rules()
        if until is not None:
            until = max(until, time.process_time() + least)  # that they were slow to import must not cost them all
        report = examine(seen, config, command, until=until, more=more, broken=broken)
    if keep:
        with (folder / "findings.jsonl").open("a", encoding="utf-8") as file:
            for each in report.findings:
                file.write(json.dumps(each.to_dict(), ensure_ascii=False) + "\n")
    return report, seen


def examine(
    seen: Recorded,
    config: Config,
    command: str,
    *,
    until: float | None = None,
    more: Iterable[str] = (),
    broken: Mapping[str, str] | None = None,
) -> Report:
    """The diagnosis of everything that was recorded."""
    failed = {**_mapping(seen.run.meta.get("broken")), **(broken or {})}
    title = title_of(seen.run)
    report = diagnose(seen.evidences, config=config, command=command, title=title, broken=failed, until=until)
    skipped = report.skipped
    if seen.script is not None:  # a program that is only watched hands nothing over
        skipped = {code: _BY_HAND.sub(rf"\1: {_LACKS}", reason) for code, reason in report.skipped.items()}
    problems = (*more, *report.problems, *seen.problems)
    findings = tuple(_without_remarks(report.findings))
    if seen.script is not None:
        aims = {rule.code: rule.aim for rule in catalogue.rules() if rule.aim}
        try:
            findings = tuple(placed(findings, seen.script, seen.sources, aims))
        except Exception:  # the text of a program may be anything: then they stay where they showed
            report = dataclasses.replace(report, broken={**report.broken, "places": traceback.format_exc()})
    program = _program(seen.script)
    return dataclasses.replace(report, findings=findings, skipped=skipped, problems=problems, program=program)


def _without_remarks(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Notes about the text of a program are for `rldebug lint`: who has run it wants to know what went wrong."""
    textual = {rule.code for rule in catalogue.rules() if rule.reads == "Source"}
    return (each for each in findings if each.severity != "note" or each.code not in textual)


def _program(script: Script | None) -> Mapping[str, Any] | None:
    try:
        return None if script is None else program_of(script)
    except Exception:
        return None  # a script that cannot be made sense of; the rules say what they lack


def as_shown(report: Report) -> Report:
    """For reading: what was not seen is counted together, not thing by thing."""
    return dataclasses.replace(report, skipped={code: _in_short(each) for code, each in report.skipped.items()})


def _in_short(reason: str) -> str:
    if reason.endswith(_LACKS):
        return "needs what was not seen in the program"
    return reason


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}  # from run.json, where a hand may have been at work
