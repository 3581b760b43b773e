"""rldebug.attach: what `rldebug run` does, from within a process that is running already.

    with rldebug.attach(run="cartpole"):
        model.learn(100_000)

For notebooks, tests, trainers of libraries, workers of a cluster. Environments, networks and optimizers that are there
already are seen from the next call on. Within `rldebug run`, or another attach, nothing is hooked twice: it joins that.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from rldebug.capture import session as sessions
from rldebug.capture.collectives import await_ranks
from rldebug.capture.gallery import Gallery
from rldebug.capture.looks import Looks
from rldebug.capture.session import Options, Session
from rldebug.capture.sources import SourceKeeper
from rldebug.child import watch as watch_child
from rldebug.config import Config, asked_for, read_config
from rldebug.diagnose import choose
from rldebug.evidence.crash import Crash, crash_of
from rldebug.explain import attach as add_note
from rldebug.explain import cells_of, judge
from rldebug.finding import Report
from rldebug.follow import Follower
from rldebug.handover import HandoverError, Receiver
from rldebug.preprocess import keep_in, keep_no_more
from rldebug.record import new_run_folder
from rldebug.recorded import as_shown, examined
from rldebug.render.note import note

_REPORT = 10.0  # seconds that a diagnosis may take; rules that have not run by then are left to `rldebug report`
_RULES = 5.0  # seconds of it, at least, for the rules themselves
_FRAMES = 1000  # one observation in so many is kept, as the network was given it


def attach(
    run: str = "run",
    *,
    folder: str | Path = ".rldebug/runs",
    select: tuple[str, ...] | list[str] = (),
    ignore: tuple[str, ...] | list[str] = (),
    overhead_budget: float | None = None,
    frames: int = _FRAMES,
    quiet: bool = False,
) -> Attached:
    """Watch this process from here on, until `close()` or the end of the `with` block, which print the diagnosis.

    run               what the run is called; it is kept in `folder/run`
    select, ignore    only these rules; not these; by code or name
    overhead_budget   the share of the time that watching may take (0.015 unless given)
    frames            one observation in so many is kept as a picture; 0: none
    quiet             print nothing: `close()` gives the report
    """
    if overhead_budget is not None and not 0 <= overhead_budget <= 1:
        raise ValueError(f"rldebug.attach(overhead_budget=...) got {overhead_budget}, expected a share, like 0.03")
    config = asked_for(read_config(), tuple(select), tuple(ignore))
    if config != Config():
        choose(config)  # a misspelt rule is said now, not after the training
    options = Options(late=True) if overhead_budget is None else Options(overhead_budget=overhead_budget, late=True)
    return Attached(run, Path(folder), config, options, frames, quiet)


class Attached(Receiver):
    """What `rldebug.attach` returns. Use it as a context manager, or call `close()` at the end."""

    def __init__(self, name: str, root: Path, config: Config, options: Options, frames: int, quiet: bool) -> None:
        self._config = config
        self._quiet = quiet or os.environ.get("RANK", "0") not in ("", "0")  # the first one speaks for all
        self._broken: dict[str, str] = {}
        self._gallery: Gallery | None = None
        self._closed: Report | None = None
        self._pid, self._began = os.getpid(), time.time()
        current = sessions.current()
        self.joined = current is not None  # another watches already: it will report
        if current is not None:
            self._session, self._path = current, current.folder
            return
        self._path = new_run_folder(root.absolute(), name)
        self._sources = SourceKeeper(self._path, self._began)
        self._session = Session(self._path, options)
        self._session.watch_child = watch_child
        self._follower = Follower(self._session, self._path)
        with self._sandbox("watching"):
            if frames:
                self._keep_frames(frames)
            self._session.install()
            if self._session.looks is not None:
                self._session.looks.begin()
        self._at_exit = self._close_at_exit
        atexit.register(self._at_exit)

    # ── what the user, or a library's hook, calls ───────────────────────────────────────────────────────────────────

    @property
    def path(self) -> Path:
        """The run folder."""
        return self._path

    @property
    def updates(self) -> int:
        """Optimizer steps that were seen."""
        return self._session.updates

    @property
    def env_steps(self) -> int:
        return self._session.log.steps

    @property
    def broken(self) -> Mapping[str, str]:
        """What failed and was switched off, with its traceback."""
        return {**self._session.switch.broken, **self._broken}

    def declare(self, **settings: Any) -> None:
        """What the program says of itself, such as `algorithm="ppo", gamma=0.99`: kept in run.json, never judged by."""
        self._session.declared.update(settings)
        follower = self._session.follower
        if self._closed is None and follower is not None:
            with self._sandbox("declare"):
                follower.record.tell(declared=self._session.declared)

    def report(self) -> Report:
        """The diagnosis so far; watching goes on."""
        if self._closed is not None:
            return self._closed
        with self._sandbox("telling"):
            self._session.tell()
        return self._diagnosis()

    def close(self, error: BaseException | None = None) -> Report:
        """Stop watching, take every hook away, and print the diagnosis. Called by leaving the `with` block."""
        if self._closed is not None:
            return self._closed
        if self.joined:
            self._closed = self._diagnosis()
            return self._closed
        atexit.unregister(self._at_exit)
        if isinstance(error, SystemExit) and not error.code:
            error = None  # sys.exit() at the end of a script
        crash = self._explained(error) if isinstance(error, Exception) else None
        with self._sandbox("keeping the sources"):
            self._sources.keep()
            self._sources.keep_settings()
        with self._sandbox("the end of recording"):
            self._session.finish()
        with self._sandbox("frames"):
            if self._gallery is not None:
                keep_no_more(self._gallery)
        state = "finished" if error is None else "interrupted" if isinstance(error, KeyboardInterrupt) else "crashed"
        told = None if error is None else f"{type(error).__name__}: {error}"
        with self._sandbox("the end of the run folder"):
            from rldebug.capture.children import gather

            self._follower.close(
                state=state,
                error=told,
                crash=crash.to_dict() if crash is not None else None,
                declared=self._session.declared,
            )
            gather(self._path)
        self._closed = self._diagnosis(keep=True)
        if not self._quiet:
            with self._sandbox("printing the report"):
                self._print(self._closed)
        return self._closed

    def __enter__(self) -> Attached:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(error)

    # ── how ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _keep_frames(self, every: int) -> None:
        session = self._session
        self._gallery = Gallery(self._path / "frames", lambda: (session.updates, session.log.steps), every)
        Looks(session, self._gallery)
        keep_in(self._gallery)

    def _receive(self, call: str, build: Callable[..., Any], given: dict[str, Any], frame: FrameType) -> None:
        if self._closed is not None:
            return
        build(call, given)  # wrong input is said here, at the call
        follower = self._session.follower
        if follower is not None:
            with self._sandbox(call):
                follower.handed_over(call, given, frame)

    def _diagnosis(self, *, keep: bool = False) -> Report:
        try:
            if keep and os.environ.get("RANK") == "0":  # what the others did belongs to the first one's report
                await_ranks(self._path)
            until = time.process_time() + _REPORT
            return examined(
                self._path, self._config, "attach", until=until, least=_RULES, broken=self._broken, keep=keep
            )[0]
        except Exception as error:  # a folder taken away meanwhile
            self._broken["the report"] = traceback.format_exc()
            return Report(command="attach", title=self._path.name, problems=(f"no diagnosis: {error}",))

    def _explained(self, error: Exception) -> Crash | None:
        with self._sandbox("the look at the crash"):
            crash = crash_of(error, env_steps=self.env_steps, updates=self.updates)
            add_note(error, note(judge([crash], self._config), crash, cells_of(crash)))
            return crash
        return None

    def _print(self, report: Report) -> None:
        from rldebug.evidence.run import read_run
        from rldebug.render.terminal import print_report

        if report.clean and not report.broken and not self.updates and not self.env_steps:
            print("rldebug: no step of an environment or an optimizer was seen: nothing was checked", file=sys.stderr)
            return
        shown = Path(os.path.relpath(self._path, os.getcwd()))
        print_report(as_shown(report), run=read_run(self._path), run_folder=shown)

    def _close_at_exit(self) -> None:
        """The script ends, or fails, outside of a `with` block; a forked process ends without a word."""
        if os.getpid() == self._pid:
            self.close(None if hasattr(sys, "ps1") else getattr(sys, "last_value", None))

    @contextmanager
    def _sandbox(self, what: str) -> Iterator[None]:
        """What goes wrong inside rldebug is listed as broken; the training goes on."""
        try:
            yield
        except HandoverError:
            raise
        except Exception:
            self._broken[what] = traceback.format_exc()
