"""Rungs one after the other, or side by side in processes of their own: what stands on a failed one is not tried."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

import torch

from rldebug.evidence.ladder import Rung
from rldebug.parts.make import said
from rldebug.probes.ladder import blank
from rldebug.probes.probe import Probe
from rldebug.target import TargetError

STOPPED = "the climb was stopped before"
LOOK = 0.2  # seconds between two looks for Ctrl-C
GRACE = 5.0  # seconds that a process has to end what it started

Kind = type[Probe]
Run = Callable[[Kind], Rung]


def run_all(
    kinds: Sequence[Kind],
    run: Run,
    *,
    left_out: Callable[[Kind], Rung | None] = lambda _: None,
    whole: bool = False,
    jobs: int = 1,
    progress: Callable[[Rung], Any] = lambda _: None,
) -> list[Rung]:
    """One rung for each kind, in that order. `left_out` says which need no running, and why."""
    climb = _Climb(kinds, left_out, whole, progress)
    # Without fork a function of the user's could not be handed over, nor the networks be built where they are needed.
    several = (
        jobs > 1 and len(kinds) > 1 and "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin"
    )
    try:
        if several:
            _together(climb, run, jobs)
        else:
            while (kind := climb.next()) is not None:
                climb.finish(kind, run(kind))
    except KeyboardInterrupt:
        climb.stop()
    return [climb.rungs[kind] for kind in kinds]


class _Climb:
    """Which rungs are decided, which may be tried next."""

    def __init__(
        self,
        kinds: Sequence[Kind],
        left_out: Callable[[Kind], Rung | None],
        whole: bool,
        progress: Callable[[Rung], Any],
    ) -> None:
        self.waiting, self.left_out, self.whole, self.progress = list(kinds), left_out, whole, progress
        self.rungs: dict[Kind, Rung] = {}
        self.running: set[Kind] = set()

    def next(self) -> Kind | None:
        """The lowest rung that stands on none that is still open; None where there is nothing to do but wait."""
        for kind in list(self.waiting):
            open_ = {each.name for each in (*self.waiting, *self.running)}
            if kind.after in open_ and not self.whole:
                continue
            self.waiting.remove(kind)
            blanked = self._without_trying(kind)
            if blanked is None:
                self.running.add(kind)
                return kind
            self.finish(kind, blanked)
        # What was blanked may have opened others: they are further down the list, and were looked at after it.
        return None

    def finish(self, kind: Kind, rung: Rung) -> None:
        self.running.discard(kind)
        self.rungs[kind] = rung
        self.progress(rung)

    def stop(self) -> None:
        for kind in (*self.running, *self.waiting):
            self.rungs[kind] = blank(kind, "not run", STOPPED)
        self.running.clear()
        self.waiting.clear()

    def _without_trying(self, kind: Kind) -> Rung | None:
        below = next((each for each in self.rungs.values() if each.name == kind.after), None)
        if below is not None and not self.whole and below.outcome in ("failed", "not run"):
            return blank(kind, "not run", f"stands on {below.name}, which was not passed")
        return self.left_out(kind)


def _together(climb: _Climb, run: Run, jobs: int) -> None:
    context = multiprocessing.get_context("fork")
    at_work: dict[Connection, tuple[Kind, BaseProcess]] = {}
    interrupted: list[int] = []
    # An exception that Ctrl-C raises in the midst of a fork is swallowed by Python: it is noted, and looked at below.
    here = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, lambda number, _: interrupted.append(number)) if here else None
    try:
        while True:
            while len(at_work) < jobs and (kind := climb.next()) is not None:
                ours, theirs = context.Pipe(duplex=False)
                process: BaseProcess = context.Process(target=_work, args=(run, kind, theirs), daemon=False)
                with warnings.catch_warnings():
                    warnings.simplefilter(
                        "ignore", DeprecationWarning
                    )  # a bar that is being drawn is a thread: harmless
                    process.start()
                theirs.close()  # else the end of the process would not be seen here
                at_work[ours] = kind, process
            if interrupted:
                raise KeyboardInterrupt
            if not at_work:
                return
            for ready in wait(list(at_work), timeout=LOOK):
                assert isinstance(ready, Connection)
                tried, ended = at_work.pop(ready)
                climb.finish(tried, _received(tried, ready, ended))
    finally:
        _end([process for _, process in at_work.values()])
        if here:
            signal.signal(signal.SIGINT, before)


def _received(kind: Kind, pipe: Connection, process: BaseProcess) -> Rung:
    try:
        what, told = pipe.recv()
    except EOFError:
        process.join()
        code = process.exitcode or 0
        died = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
        return blank(kind, "crashed", f"the process that tried it {died}")
    finally:
        pipe.close()
    process.join()
    if what == "refused":
        raise TargetError(told)
    if what == "raised":
        return blank(kind, "crashed", told)
    assert isinstance(told, Rung)
    return told


def _work(run: Run, kind: Kind, pipe: Connection) -> None:
    """In the process of one rung. Ctrl-C reaches the whole group: the one that started us decides what follows."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started here is ended, too
    torch.set_num_threads(1)
    try:
        pipe.send(("rung", run(kind)))
    except TargetError as error:
        pipe.send(("refused", str(error)))
    except Exception as error:
        if os.environ.get("RLDEBUG_TRACEBACK"):
            traceback.print_exc()
        pipe.send(("raised", said(error)))
    pipe.close()


def _end(processes: Sequence[BaseProcess]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(GRACE)
        if process.is_alive():
            process.kill()
            process.join()
