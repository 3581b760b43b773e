"""rldebug profile: an unmodified program, timed; where its time goes, and what to do about it.

    rldebug profile train.py --seed 1

Ctrl-C, or --seconds, ends the program early; what it did until then is told.
"""

from __future__ import annotations

import dataclasses
import math
import os
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from rldebug.launch import Ending, as_typed, check, flush, name_of, run_as_main, run_to_its_end, show, when_imported
from rldebug.render.progress_line import ProgressLine
from rldebug.wishes import check_names

if TYPE_CHECKING:
    from rldebug.config import Config


_TO_CLEAN_UP = 5.0  # seconds that a program has until it is ended once more


class Enough(BaseException):
    """Raised in the program when it has been timed for as long as was asked for."""


@dataclass(frozen=True)
class Asked:
    """What was asked for on the command line."""

    program: tuple[str, ...]
    folder: Path = Path(".rldebug") / "runs"
    name: str | None = None
    seconds: float | None = None
    json: str | None = None
    files: Mapping[str, Path] = dataclasses.field(default_factory=dict)  # html, speedscope, trace, prof
    yardstick: bool = True
    quiet: bool = False


def profile(asked: Asked, config: Config) -> NoReturn:
    """Run the program to its end, or as long as asked for, and say where its time went. Leaves with its own status."""
    check(asked.program)
    check_places(asked)
    check_names([*config.select, *config.ignore, *config.rules], config)
    timed = Timed(asked, config)
    ending = Ending(timed.end)
    ending.install()
    when_imported("torch", timed.begin)
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]
    run_to_its_end(asked.program, ending, timed.came_out)


def _in_program(frame: FrameType | None) -> bool:
    """Whether the program is under way, and not its end."""
    while frame is not None:
        if frame.f_code is run_as_main.__code__:
            return True
        frame = frame.f_back
    return False


def check_places(asked: Asked) -> None:
    """Raises where what is asked for could not be written: better said before the program runs."""
    json = [Path(asked.json)] if asked.json not in (None, "-") else []
    for file in (*asked.files.values(), *json):
        if not file.absolute().parent.is_dir():
            raise FileNotFoundError(2, "no such folder", str(file.parent))
        if file.is_dir():
            raise IsADirectoryError(21, "is a folder, expected the name of a file", str(file))
        if not os.access(file if file.exists() else file.absolute().parent, os.W_OK):
            raise PermissionError(13, "may not be written", str(file))
    kept = asked.folder.absolute()
    there = next(each for each in (kept, *kept.parents) if each.exists())
    if not there.is_dir():
        raise NotADirectoryError(20, "is no folder", str(there))
    if not os.access(there, os.W_OK):
        raise PermissionError(13, "may not be written", str(there))


class Timed:
    """A program while it is timed, and when it ends."""

    def __init__(self, asked: Asked, config: Config) -> None:
        self.asked, self.config = asked, config
        self.error: BaseException | None = None
        self.folder: Path | None = None
        self.problems: list[str] = []
        self.broken: dict[str, str] = {}
        self._profiling: Any = None
        self._switch: Any = None
        self._record: Any = None
        self._sources: Any = None
        self._root = asked.folder.absolute()
        self._files = {name: file.absolute() for name, file in asked.files.items()}
        self._json = (
            None if asked.json is None else asked.json if asked.json == "-" else str(Path(asked.json).absolute())
        )
        self._cwd, self._began = os.getcwd(), time.time()
        self._next_stop = 0.0
        self._out, self._err = sys.stdout, sys.stderr
        self._line = ProgressLine(sys.stderr)
        if not asked.quiet:
            self._line.begin()

    def begin(self) -> None:
        """The program has imported torch."""
        if self.error is not None:
            return
        with self._sandbox("profiling"):
            from rldebug.capture.profiling import Profiling
            from rldebug.capture.sources import SourceKeeper
            from rldebug.capture.switch import Switchboard
            from rldebug.record import Recorder, Schedule, new_run_folder, run_meta

            self.folder = new_run_folder(self._root, self.asked.name or name_of(self.asked.program))
            self._record = Recorder(self.folder, run_meta(name=self.folder.name), Schedule())
            self._sources = SourceKeeper(self.folder, self._began)
            self._sources.keep()
            self._switch = Switchboard()
            self._profiling = Profiling(self.folder)
            if self.asked.seconds is not None:
                self._profiling.stopwatch.on_window.append(self._stop_in_time)
            self._profiling.install(self._switch, tick=self._tick if self._line.due < math.inf else None)

    def _tick(self) -> float:
        self._profiling.stopwatch.count_steps()
        counts = self._profiling.stopwatch.counts
        self._line.tick(counts["env_steps"], counts["updates"])
        return self._line.due

    def _stop_in_time(self, now: float, frame: FrameType | None) -> None:
        stopwatch = self._profiling.stopwatch
        if not stopwatch.first or now < self._next_stop or not _in_program(frame):
            return
        if now - (stopwatch.first - stopwatch.began) > (self.asked.seconds or 0):
            self._next_stop = now + _TO_CLEAN_UP
            stopwatch.sampler.raise_after = Enough()

    def came_out(self, error: BaseException) -> int:
        self.error = error
        if isinstance(error, Enough):
            return 0
        if not isinstance(error, SystemExit):
            show(error)
        return 1

    # ── the end ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def end(self, how: str) -> int | None:
        self._line.end()
        flush()
        try:
            with self._sandbox("the end of profiling"):
                self._finish(how)
            with self._sandbox("the report"), self._where_it_began():
                return self._report()
            self._say(f"rldebug: no report: {self.broken['the report'].strip().splitlines()[-1]}")
        except KeyboardInterrupt:
            self._say("rldebug: no report, Ctrl-C was pressed")
        return None

    def _finish(self, how: str) -> None:
        if self._profiling is None:
            return
        self._profiling.finish()
        self._switch.undo()
        self._sources.keep()
        state = "stopped" if how or isinstance(self.error, Enough) else "crashed" if self._crashed else "finished"
        self._record.close(state=state, broken={**self._switch.broken, **self._profiling.stopwatch.broken})

    @property
    def _crashed(self) -> bool:
        return isinstance(self.error, Exception)

    def _report(self) -> int | None:
        if (wrong := self._kept_from()) is not None:
            self._say(f"rldebug: not timed: {wrong.strip().splitlines()[-1]}")
            return None
        if self.folder is None:
            self._say("rldebug: the program did not import torch: there was nothing to time")
            return None
        from rldebug.evidence.timings.reading import read_timing
        from rldebug.timed import as_told, judged, measured, write_files

        timing = read_timing(self.folder)
        if timing is None or not timing.slices:
            self._say("rldebug: no step of an environment or an optimizer was seen: there was nothing to time")
            return None
        if self.asked.yardstick:
            timing = measured(timing, self.folder, self.problems)
        self.problems += self._how_it_ended()
        report = judged(timing, self.config, self.problems, self.broken)
        if not self.asked.quiet:
            from rldebug.render.profile import print_profile
            from rldebug.render.terminal import print_report

            print_profile(timing, report, file=self._err)
            print_report(report, file=self._err)
            self._say(f"kept in {as_typed(self.folder)}: `rldebug report` says it again")
        write_files(timing, report, self._files, self._say)
        if self._json is not None:
            from rldebug.render.json import write_data

            if self._json == "-":
                sys.stdout = self._out
            write_data({**report.to_dict(), "timing": as_told(timing)}, self._json)
            flush()
        return None

    def _kept_from(self) -> str | None:
        """What kept it from being timed, or from being written down."""
        if "profiling" in self.broken or self.folder is None:
            return self.broken.get("profiling")
        writing: str | None = self._profiling.stopwatch.broken.get("capture/writing")
        return None if (self.folder / "timing.json").exists() else writing

    def _how_it_ended(self) -> list[str]:
        if isinstance(self.error, KeyboardInterrupt):
            return ["the program was stopped by Ctrl-C: this is what it did until then"]
        if self._crashed:
            return [f"the program raised {type(self.error).__name__}: this is what it did until then"]
        return []

    def _say(self, line: str) -> None:
        try:
            print(line, file=self._err, flush=True)
        except (OSError, ValueError):
            pass  # nobody reads it any more

    @contextmanager
    def _where_it_began(self) -> Iterator[None]:
        here = os.getcwd()
        os.chdir(self._cwd)
        try:
            yield
        finally:
            os.chdir(here)

    @contextmanager
    def _sandbox(self, what: str) -> Iterator[None]:
        try:
            yield
        except Exception:
            self.broken[what] = traceback.format_exc()
