"""rldebug run: an unmodified program, watched from its first import of torch to its end, and diagnosed.

    rldebug run train.py --seed 1

Until the program imports torch nothing is in place but a look at its imports. What was seen is in the run folder at any
time; a program that is killed leaves it to `rldebug report`.
"""

from __future__ import annotations

import dataclasses
import math
import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rldebug.capture import marks
from rldebug.config import Config
from rldebug.finding import Report
from rldebug.launch import Ending, as_typed, check, flush, name_of, run_to_its_end, show, when_imported
from rldebug.lookout import FAILED, Lookout, Stopped, as_severe
from rldebug.render.progress_line import ProgressLine
from rldebug.wishes import Wishes, configured

if TYPE_CHECKING:
    from rldebug.evidence.crash import Crash
    from rldebug.recorded import Recorded
    from rldebug.render.alongside import TensorBoardAlongside
    from rldebug.render.live import Live

_REPORT = 3.0  # seconds that a report should take; rules that have not run by then are left out
_RULES = (
    12.0  # seconds, at least, for the rules themselves. They mostly take one or two; what is found late is still found
)


def run(wishes: Wishes) -> NoReturn:
    """Run the program to its end, report, and leave with its own exit status."""
    check(wishes.program)
    config = configured(wishes)
    watched = Watched(wishes, config)
    ending = Ending(watched.end)
    # A rank that waits for another in C would not be stopped by a handler in Python, and torchrun would wait for it.
    ending.install(terminate="WORLD_SIZE" not in os.environ)
    when_imported("torch", watched.begin)
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]  # where `rldebug` itself lies, or was called from
    if "environments" in wishes.without:
        run_to_its_end(wishes.program, ending, watched.came_out)
    marks.begin()
    run_to_its_end(wishes.program, ending, watched.came_out, marks.code_of)


# ── watching ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Watched:
    """A program while it runs, and when it ends."""

    def __init__(self, wishes: Wishes, config: Config) -> None:
        self.wishes, self.config = wishes, config
        self.error: BaseException | None = None  # what came out of it
        self.session: Any = None
        self.follower: Any = None
        self.profiling: Any = None
        self.folder: Path | None = None
        self.frames: Any = None
        self.clips: Any = None
        self.sources: Any = None
        self.problems: list[str] = []
        self.broken: dict[str, str] = {}
        self._cwd = os.getcwd()
        self._root = wishes.folder.absolute()  # the program may go elsewhere
        self._tensorboard = wishes.tensorboard.absolute() if wishes.tensorboard is not None else None
        self._beside: TensorBoardAlongside | None = None
        self._files: dict[Any, Path] = {
            each: Path(each).absolute()
            for each in (wishes.json, wishes.html, wishes.graph)
            if each is not None and each != "-"
        }
        self._out, self._err = sys.stdout, sys.stderr  # the program may put its own in their place
        self._pid = os.getpid()
        self._began = time.time()
        self._start = time.process_time()  # what we have taken before the program begins
        self._crash: Crash | None = None
        self._explained: frozenset[str] = frozenset()  # codes that stand below the traceback
        self._rank = os.environ.get("RANK", "0") or "0"
        self._line = ProgressLine(sys.stderr)
        self.lookout = Lookout(wishes, self._rank, self._say, lambda: self._sandbox("looking while it runs"))
        self._streams: Any = None
        if not wishes.quiet:
            self._line.begin()

    def begin(self) -> None:
        """The program has imported torch."""
        if self.error is not None:
            return  # it is we who import it, after the program has failed
        before = time.thread_time()
        with self._sandbox("watching"):
            self._make()
            self._open_dashboard()
            self.session.install()
            if self.session.looks is not None:
                self.session.looks.begin()
            self.session.took(self._start + time.thread_time() - before)
            if self.lookout.wanted and not self.lookout.apart:
                self.session.on_look = self.look
        with self._sandbox("looking while it runs"), self._where_it_began():
            if self.lookout.apart and self.folder is not None:
                problem = self.lookout.begin_apart(self.folder)
                self.problems += [problem] if problem is not None else []
        with self._sandbox("writing for TensorBoard"):
            if self._tensorboard is not None and self._rank == "0":
                from rldebug.render.alongside import TensorBoardAlongside

                self._beside = TensorBoardAlongside(self._place(), self._tensorboard)
        with self._sandbox("profiling"):
            if self.profiling is not None:
                self.profiling.install(self.session.switch, environments=False)

        # Last: it looks at the lines of the program from here on, and should not look at ours.
        with self._sandbox("creation sites"):
            if self.wishes.creation_sites:
                from rldebug.evidence.crashes.creation_sites import CreationSites

                if not CreationSites().install():
                    self.problems.append("creation sites are not kept: a debugger or coverage traces the program")

    def _make(self) -> None:
        from rldebug.capture.session import Options, Session
        from rldebug.capture.sources import SourceKeeper
        from rldebug.child import watch
        from rldebug.follow import Follower
        from rldebug.record import new_run_folder

        options = Options(without=self.wishes.without, graph=self.wishes.graph is not None)
        if self.wishes.overhead_budget is not None:
            options = dataclasses.replace(options, overhead_budget=self.wishes.overhead_budget)
        self.folder = new_run_folder(self._root, self.wishes.name or name_of(self.wishes.program))
        if not self.folder.is_dir():
            import tempfile

            self.problems.append(f"{self.folder} cannot be made: the run is recorded in a folder for what is passing")
            self.folder = Path(tempfile.mkdtemp(prefix="rldebug-run-"))
        self.sources = SourceKeeper(self.folder, self._began)
        self.sources.keep()
        self.session = Session(self.folder, options)
        self.session.watch_child = watch
        self.follower = Follower(self.session, self.folder)
        if self.wishes.profile:
            from rldebug.capture.profiling import Profiling

            self.profiling = Profiling(self.folder)
            self.session.told = self.profiling.log(self.session.log)
        if self.wishes.frames:
            self._keep_frames(self.folder)
        if self.wishes.render_toggle and self._rank == "0":
            self._render_when_asked(self.folder)
        if self._line.due < math.inf or self.lookout.apart:
            from rldebug.capture.ticking import Ticking

            self.session.told = Ticking(self.session.told, self._tick, self.session.switch)
            if self.wishes.live and self._line.due < math.inf:
                from rldebug.follow import Streams
                from rldebug.render.live import Live

                self._streams = Streams(self.session.log)
                title = os.path.basename(self.wishes.program[self.wishes.program[0] == "-m"])
                live = Live(title, self.folder, self._err, judged=not self.wishes.record_only)
                self.lookout.live = live
                self._line.show(lambda pace, columns, rows: self._view(live, pace, columns, rows))

    def _keep_frames(self, folder: Path) -> None:
        from rldebug.capture.gallery import Gallery
        from rldebug.capture.looks import Looks
        from rldebug.preprocess import keep_in

        session = self.session
        self.frames = Gallery(folder / "frames", lambda: (session.updates, session.log.steps), self.wishes.frames)
        Looks(session, self.frames)
        keep_in(self.frames)

    def _render_when_asked(self, folder: Path) -> None:
        from rldebug.capture.clips import clips_of

        session, quiet, program = self.session, self.wishes.quiet, self.wishes.program
        script = None if program[0] == "-m" else os.path.join(self._cwd, program[0])
        self.clips = clips_of(session, folder, script, (lambda line: None) if quiet else self._say)
        session.told = self.clips

    def _open_dashboard(self) -> None:
        if not self.wishes.dashboard or self._rank != "0":
            return
        from rldebug.render.companion import CompanionError, open_dashboard

        try:
            self._say(f"rldebug: dashboard: {open_dashboard(self._place())}")
        except CompanionError as error:
            self._say(f"rldebug: no dashboard: {error}")

    def _tick(self) -> float:
        self._line.tick(self.session.log.steps, self.session.updates)
        if self.lookout.live is not None and self.session.on_look is not None and self.session.audit is None:
            self.look()  # audits, after which it is looked too, may be minutes apart
        return min(self._line.due, self.lookout.hear())

    def look(self) -> None:
        """May end the program: see lookout.py."""
        from rldebug.recorded import examine, recorded

        self.lookout.look(lambda: examine(recorded(self._place(), text=False), self.config, "run"))

    def _view(self, live: Live, pace: str, columns: int, rows: int) -> list[str]:
        if self.lookout.live is None:
            return []
        with self._sandbox("the live view"):
            finished, steps = self._streams.take(), self.session.log.steps
            live.now(self.follower.collector.age, steps, finished.returns if finished is not None else ())
            return live.lines(pace, columns, rows)
        self.lookout.live = None  # one line does
        return []

    def came_out(self, error: BaseException) -> int:
        """What the program raised, and nobody caught. The interpreter shuts down after this, with the status given."""
        self.error = error
        if isinstance(error, Stopped):
            return FAILED
        if isinstance(error, SystemExit):
            return 0  # it has its own
        self._explain(error)
        # It may not have come to torch. That it failed is told all the same, and soon torch can no longer be imported.
        if self.session is None and isinstance(error, Exception) and os.getpid() == self._pid:
            with self._sandbox("recording"):
                self._make()
        return 1

    def _explain(self, error: BaseException) -> None:
        """Show it, with what it means below it."""
        if isinstance(error, Exception):
            with self._sandbox("the look at the crash"):
                self._look_at(error)
        shown = sys.excepthook is sys.__excepthook__ or hasattr(sys.excepthook, "explains")
        show(error)
        if not shown:
            self._explained = frozenset()  # its own hook may know nothing of notes: all is told in the report
        elif self._explained and sys.version_info < (3, 11):
            self._say(error.__notes__[-1])  # type: ignore[attr-defined,unused-ignore]

    def _look_at(self, error: Exception) -> None:
        from rldebug.evidence.crash import crash_of

        steps, updates = (self.session.log.steps, self.session.updates) if self.session is not None else (0, 0)
        self._crash = crash_of(error, env_steps=steps, updates=updates)
        if self.wishes.record_only:
            return
        from rldebug.explain import attach, explained, judge
        from rldebug.render.note import note

        with self._where_it_began():
            report = judge([self._crash], self.config)
            warned = tuple(self.session.warned) if self.session is not None else ()
            if warned and report.roots:
                # What was warned of before may be the cause: then it is told, and the crash is folded under it.
                wider = judge([self._crash, *warned], self.config)
                if not {each.code for each in report.roots} & {each.code for each in wider.roots}:
                    report = wider
            attach(error, note(report, self._crash))
        if explained(error):
            self._explained = frozenset(each.code for each in report.roots)

    def _place(self) -> Path:
        assert self.folder is not None
        return self.folder

    # ── the end ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def end(self, how: str) -> int | None:
        """Write everything down, report; the exit status to leave with where it is not the program's own."""
        began = time.process_time()
        with self._sandbox("looking while it runs"):
            problem = self.lookout.end()
            self.problems += [problem] if problem is not None else []
        with self._sandbox("clips"):
            if self.clips is not None:
                self.clips.finish()  # first: the terminal is as it was
                self.problems += self.clips.problems
        self._line.end()
        flush()
        try:
            self._record(how)
            if self._rank != "0":
                with self._sandbox("pointing to the report"):
                    self._point_to_the_report()
                return None  # the first one speaks for all
            with self._sandbox("waiting for other ranks"):
                self._await_ranks()
            with self._sandbox("the graph"):
                self._draw()
            with self._sandbox("the yardstick"):
                self._measure()
            with self._sandbox("the report"), self._where_it_began():
                return self._report(how, began + _REPORT)
            self._say(f"rldebug: no report: {self.broken['the report'].strip().splitlines()[-1]}")
        except KeyboardInterrupt:
            self._say(f"rldebug: no report, Ctrl-C was pressed; `rldebug report {self.folder}` makes up for it")
        finally:
            self._end_beside()
        return None

    def _end_beside(self) -> None:
        """The diagnosis is written by now."""
        if self._beside is None or self._tensorboard is None:
            return
        try:
            problem = self._beside.end()
        except (Exception, KeyboardInterrupt) as error:
            problem = _said(error)
        if problem:
            self._say(f"rldebug: not all was written for TensorBoard: {problem}")
        elif not self.wishes.quiet:
            self._say(f"tensorboard: tensorboard --logdir {as_typed(self._tensorboard)}")

    def _record(self, how: str) -> None:
        if how.startswith("os.exec"):
            self.problems.append(f"the program replaced itself by {how}: what it does from there is not watched")
        with self._sandbox("keeping the sources"):
            if self.sources is not None:
                self.sources.keep()
                self.sources.keep_settings()
        with self._sandbox("the end of profiling"):
            if self.profiling is not None:
                self.profiling.finish()
        with self._sandbox("the end of recording"):
            if self.session is not None:
                self.session.finish()
        with self._sandbox("frames"):
            if self.frames is not None:
                from rldebug.preprocess import keep_no_more

                keep_no_more(self.frames)
                self.problems += [self.frames.problem] if self.frames.problem is not None else []
        with self._sandbox("the end of the run folder"):
            if self.follower is not None:
                crash = self._crash.to_dict() if self._crash is not None else None
                self.follower.close(state=self._state(how), error=_said(self.error), crash=crash, how=how)
        with self._sandbox("what child processes did"):
            if self.session is not None and self.folder is not None:
                from rldebug.capture.children import gather

                gather(self.folder)

    def _point_to_the_report(self) -> None:
        """Where this rank fails, its launcher ends the first one, which then says nothing."""
        if not isinstance(self.error, Exception) or self.folder is None or self.wishes.quiet:
            return
        from rldebug.evidence.ranks import job_of

        job = job_of(self.folder)
        first = self.folder if job is None else next(iter(job.members.values())).folder
        self._say(f"rldebug: rank {self._rank} failed; `rldebug report {as_typed(first)}` is about all ranks")

    def _await_ranks(self) -> None:
        """What the others have done belongs to the report of the first."""
        if self.folder is not None and not self.wishes.record_only and "WORLD_SIZE" in os.environ:
            from rldebug.capture.collectives import await_ranks

            await_ranks(self.folder)

    def _state(self, how: str) -> str:
        if isinstance(self.error, Exception):
            return "crashed"
        if isinstance(self.error, KeyboardInterrupt):
            return "interrupted"
        return "stopped" if how or isinstance(self.error, Stopped) else "finished"

    def _report(self, how: str, until: float) -> int | None:
        wishes, own = self.wishes, exit_status(self.error, how)
        if wishes.record_only:
            if self.folder is not None and not wishes.quiet:
                self._say(f"rldebug: recorded; `rldebug report {as_typed(self.folder)}` gives the diagnosis")
            return None
        if not wishes.quiet and self.folder is not None and getattr(self._err, "isatty", lambda: False)():
            self._say("rldebug: the program has ended; working out the diagnosis …")
        report, seen = self._diagnosis(until)
        found = any(as_severe(each, wishes.fail_on) for each in report.roots)
        report = dataclasses.replace(report, exit=FAILED if found or isinstance(self.error, Stopped) else own)
        if not (wishes.quiet and report.clean):
            self._print(report, seen)
        if wishes.json == "-":
            sys.stdout = self._out  # the program may have put its own there
        if wishes.json is not None:
            from rldebug.render.json import write_json

            write_json(report, str(self._files.get(wishes.json, "-")))
            flush()
        if wishes.html is not None and seen is not None:
            from rldebug.timed import write_pages

            for page in write_pages(report, seen, self._files[wishes.html]):
                self._say(f"page: {as_typed(page)}")
        return FAILED if found else None

    def _draw(self) -> None:
        if self.wishes.graph is None or self.folder is None:
            return
        from rldebug.evidence.graph import read_graph
        from rldebug.render.graph import write_svg

        graph = read_graph(self.folder)
        if graph is None or not graph.losses:
            self.problems.append("there is no graph to draw: no loss was run backward in this process")
            return
        write_svg(graph, self._files[self.wishes.graph])
        self._say(f"graph: {self.wishes.graph}")

    def _measure(self) -> None:
        """What the parts of the program could cost here; kept with the run."""
        if self.profiling is None or self.folder is None or self.wishes.record_only:
            return
        from rldebug.evidence.timings.reading import read_timing
        from rldebug.timed import measured

        timing = read_timing(self.folder)
        if timing is not None and timing.slices:
            measured(timing, self.folder, self.problems)

    def _diagnosis(self, until: float) -> tuple[Report, Recorded | None]:
        if self.folder is None or not (self.folder / "run.json").exists():
            return Report(command="run", broken=self.broken, problems=tuple(self.problems)), None
        from rldebug.recorded import examined

        more, broken = self.problems, self.broken
        return examined(self.folder, self.config, "run", until=until, least=_RULES, more=more, broken=broken, keep=True)

    def _print(self, report: Report, seen: Recorded | None) -> None:
        if seen is None and not report.broken:
            # In few words: it may have been asked for no more than its --help.
            for each in report.problems or ("the program did not import torch: there was nothing to watch",):
                self._say(f"rldebug: {each}")
            return
        from rldebug.recorded import as_shown
        from rldebug.render.terminal import print_report

        if seen is None:
            print_report(report, file=self._err)
            return
        counts = seen.script.counts if seen.script is not None else {}
        if not any(counts.get(each) for each in ("updates", "env_steps")) and report.clean and not report.broken:
            for each in ("no step of an environment or an optimizer was seen: nothing was checked", *report.problems):
                self._say(f"rldebug: {each}")
            return
        self._say("")
        if isinstance(self.error, Stopped):
            self._say(f"rldebug: the program was stopped: {self.error}\n")
        folder = Path(as_typed(self._place()))
        if seen.timing is not None:
            from rldebug.render.profile import print_profile

            print_profile(seen.timing, report, file=self._err)
        print_report(as_shown(report), run=seen.run, run_folder=folder, file=self._err, told=self._explained)

    def _say(self, line: str) -> None:
        try:
            print(line, file=self._err, flush=True)
        except (OSError, ValueError):
            pass  # nobody reads it any more

    @contextmanager
    def _where_it_began(self) -> Iterator[None]:
        """Paths are told as its user would type them."""
        here = os.getcwd()
        os.chdir(self._cwd)
        try:
            yield
        finally:
            os.chdir(here)

    @contextmanager
    def _sandbox(self, what: str) -> Iterator[None]:
        """What goes wrong in here is told at the end; the program goes on."""
        try:
            yield
        except Exception:
            self.broken[what] = traceback.format_exc()


def _said(error: BaseException | None) -> str | None:
    if error is None or (isinstance(error, SystemExit) and not error.code):
        return None
    return f"{type(error).__name__}: {error}"


def exit_status(error: BaseException | None, how: str = "") -> int:
    """As the interpreter would have it; 128 and its number for a signal."""
    if how.startswith("os._exit("):
        return int(how[len("os._exit(") : -1]) & 0xFF
    if how == "SIGTERM":
        return 143
    if error is None or how:
        return 0
    if isinstance(error, SystemExit):
        return 0 if error.code is None else error.code & 0xFF if isinstance(error.code, int) else 1
    return 130 if isinstance(error, KeyboardInterrupt) else 1
