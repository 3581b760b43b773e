"""rldebug.watch: a few lines in your own training loop, and the run is recorded and diagnosed."""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from rldebug.capture.gallery import Gallery
from rldebug.collect import Collector
from rldebug.config import Config, read_config
from rldebug.diagnose import choose, diagnose
from rldebug.evidence.run import Run, read_run
from rldebug.finding import Report
from rldebug.handover import HandoverError, Receiver, given_in, signature, transitions_of, update_of
from rldebug.preprocess import keep_in, keep_no_more
from rldebug.record import Recorder, Schedule, new_run_folder, run_meta
from rldebug.render.alongside import TensorBoardAlongside
from rldebug.render.exported import need
from rldebug.trap import Predicate, act, set_traps, sprung

_ONE_PER_ROW = ("reward", "terminated", "advantage", "target", "value", "logp_new", "logp_old", "logp")
_SETTLED = 2048  # updates after which only recorded ones are checked for shapes: what was right so long stays right
_FIRST_LOOK = 20.0  # seconds
_LIVE_SHARE = 0.005  # of the wall clock may go into looking while the run goes on


def watch(
    *,
    policy: nn.Module | None = None,
    critic: nn.Module | None = None,
    target: nn.Module | None = None,
    optimizer: Optimizer | Sequence[Optimizer] | Mapping[str, Optimizer] | None = None,
    env: Any = None,
    run: str = "run",
    gamma: float | None = None,
    info: Sequence[str] = (),
    traps: Mapping[str | Predicate, str] | None = None,
    every: int = 96,
    detail: int = 64,
    folder: str | Path = ".rldebug/runs",
    tensorboard: str | Path | None = None,
    quiet: bool = False,
) -> Watch:
    """Record and diagnose a training loop. Every argument is optional; what is missing is listed as skipped.

    policy, critic, target   networks (the same module twice, where they share one)
    optimizer                one, several, or a dict of them by name
    env                      of Gymnasium, single or vectorised, of PettingZoo (parallel) or dm_env; go on using it as
                             before
    gamma                    the discount, for the rules that need it
    info                     keys of `info` to record as metrics
    traps                    {rule or predicate: "raise" | "pdb" | "snapshot"}, e.g. {"nonfinite-gradient": "raise"}
    tensorboard              a folder: what is recorded is written there too, by another process, while the run goes on
    every, detail            one update in `every` is recorded (more at first); per-layer looks `detail` or more apart
    """
    return Watch(
        modules={"policy": policy, "critic": critic, "target": target},
        optimizer=optimizer,
        env=env,
        name=run,
        gamma=gamma,
        info=info,
        traps=traps or {},
        schedule=Schedule(every, detail, lookout=bool(traps)),
        root=Path(folder),
        tensorboard=None if tensorboard is None else Path(tensorboard),
        quiet=quiet,
    )


class Watch(Receiver):
    """What `rldebug.watch` returns. Use it as a context manager, or call `close()` at the end."""

    def __init__(
        self,
        *,
        modules: Mapping[str, nn.Module | None],
        optimizer: Any,
        env: Any,
        name: str,
        gamma: float | None,
        info: Sequence[str],
        traps: Mapping[str | Predicate, str],
        schedule: Schedule,
        root: Path,
        quiet: bool,
        tensorboard: Path | None = None,
    ) -> None:
        networks = {key: each for key, each in modules.items() if each is not None}
        for key, each in networks.items():
            if not isinstance(each, nn.Module):
                raise TypeError(f"rldebug.watch({key}=...) got a {type(each).__name__}, expected a torch.nn.Module")
        if gamma is not None and not 0.0 <= gamma <= 1.0:
            raise ValueError(f"rldebug.watch(gamma=...) got {gamma}, expected a discount between 0 and 1")
        if tensorboard is not None:
            need("tensorboard")
        self._config = read_config()
        if self._config != Config():
            choose(self._config)  # a misspelt rule is said now, not after the training
        self._traps = set_traps(traps)
        self._quiet = quiet
        self._checked: dict[Any, int] = {}  # argument signatures that passed the checks, and their rows
        self._examined: Any = None  # the last reading that was looked at
        self._reported: set[str] = set()  # codes said while the run goes on
        self._started = time.monotonic()
        self._live_spent, self._live_next = 0.0, self._started + _FIRST_LOOK
        self._closed: Report | None = None
        self._collect = Collector(networks, _named_optimizers(optimizer), env, info)
        path = new_run_folder(root, name)
        self._record = Recorder(path, run_meta(name=path.name, gamma=gamma, **self._collect.describe()), schedule)
        self._collect.start(self._record)
        self._frames = Gallery(path / "frames", lambda: (self.age, self._collect.env_steps))
        keep_in(self._frames)
        self._beside: TensorBoardAlongside | None = None
        with _Sandbox(self, "writing for TensorBoard"):
            if tensorboard is not None:
                self._beside = TensorBoardAlongside(path, tensorboard)
        if self._traps:
            self._collect.on_line = lambda: self._look(_users_frame())
        self._pid = os.getpid()
        self._at_exit = self._close_at_exit
        atexit.register(self._at_exit)

    # ── what the user calls ─────────────────────────────────────────────────────────────────────────────────────────

    @property
    def age(self) -> int:
        """Learner steps so far: store it with a sample, hand it back as `collected_at=`."""
        return self._collect.age

    @property
    def path(self) -> Path:
        """The run folder."""
        return self._record.path

    @property
    def broken(self) -> Mapping[str, str]:
        """Hooks and metrics that failed and were switched off, with their tracebacks."""
        return self._record.broken

    def update(
        self,
        *,
        loss: Any = None,
        logp_old: Any = None,
        logp_new: Any = None,
        value: Any = None,
        target: Any = None,
        advantage: Any = None,
        dist: Any = None,
        dist_old: Any = None,
        logits: Any = None,
        mask: Any = None,
        entropy: Any = None,
        kl: Any = None,
        kl_limit: float | None = None,
        clip: float | None = None,
        epsilon: float | None = None,
        collected_at: Any = None,
    ) -> None:
        """Hand over what one learner step saw, one number per row; once per optimizer step, before or after it."""
        if self._collect.age > _SETTLED and not self._collect.open and not self._collect.due():
            self._collect.count_update()  # the path that nearly every update of a long run takes
            return
        if self._closed is not None:
            return
        given = given_in(locals())
        frame = sys._getframe(1)
        rows = self._check("dbg.update(...)", update_of, given)
        with _Sandbox(self, "update"):
            self._collect.saw_update(given, rows, frame)
        self._look(frame)

    def metric(self, name: str, value: Any) -> None:
        """Record a number of your own with the next reading, as `user/name` (or as named, if it has a slash)."""
        if not isinstance(name, str) or not name:
            raise HandoverError(f"dbg.metric(name, value): name is {name!r}, expected a string")
        number = value.detach() if isinstance(value, Tensor) else value
        if isinstance(number, Tensor) and (number.numel() != 1 or number.is_complex()):
            got = f"a {number.dtype} of shape {tuple(number.shape)}"
            raise HandoverError(f"dbg.metric({name!r}, …): value is {got}, expected a single real number")
        if not isinstance(number, Tensor):
            try:
                number = float(number)
            except (TypeError, ValueError):
                raise HandoverError(f"dbg.metric({name!r}, …): value is {value!r}, expected a number") from None
        self._collect.user[name if "/" in name else f"user/{name}"] = number

    def report(self) -> Report:
        """The diagnosis so far."""
        if self._closed is not None:
            return self._closed
        with _Sandbox(self, "report"):
            self._collect.close_line()
        return self._diagnose()

    def close(self, error: BaseException | None = None) -> Report:
        """Stop watching, and print the diagnosis. Called by leaving the `with` block."""
        if self._closed is not None:
            return self._closed
        atexit.unregister(self._at_exit)
        keep_no_more(self._frames)
        with _Sandbox(self, "close"):
            self._collect.stop()
        if isinstance(error, SystemExit) and not error.code:
            error = None  # sys.exit() at the end of a script
        state = "finished" if error is None else "interrupted" if isinstance(error, KeyboardInterrupt) else "crashed"
        crash = None if error is None else f"{type(error).__name__}: {error}"
        self._record.close(
            state=state,
            error=crash,
            updates=self.age,
            env_steps=self._collect.env_steps,
            broken=dict(self._record.broken),
            steps={each.name: each.steps for each in self._collect.optimizers},
        )
        self._closed = self._diagnose()
        for finding in self._closed.findings:
            if finding.code not in self._reported:
                self._record.append_finding(finding)
        if not self._quiet:
            with _Sandbox(self, "printing the report"):
                from rldebug.render.terminal import print_report

                print_report(self._closed, run_folder=self.path)
        with _Sandbox(self, "writing for TensorBoard"):
            problem = self._beside.end() if self._beside is not None else None
            if problem:
                print(f"rldebug: not all was written for TensorBoard: {problem}", file=sys.stderr)
        return self._closed

    def _close_at_exit(self) -> None:
        """The script ends, or fails, outside of a `with` block; a forked process ends without a word."""
        if os.getpid() == self._pid:
            self.close(None if hasattr(sys, "ps1") else getattr(sys, "last_value", None))

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(error)

    # ── looking, traps, checks ──────────────────────────────────────────────────────────────────────────────────────

    def _diagnose(self) -> Report:
        title, broken = self.path.name, self._record.broken
        try:
            if self._record.stopped is not None and not (self.path / "run.json").exists():
                run = Run.of([], problems=(self._record.stopped,))
            else:
                run = read_run(self.path)
            return diagnose([run], config=self._config, command="watch", title=title, broken=broken)
        except Exception as error:  # a folder taken away meanwhile, a configuration that asks for what does not exist
            self._collect.failed("diagnosis")
            return Report(command="watch", title=title, broken=dict(broken), problems=(f"no diagnosis: {error}",))

    def _look_live(self, now: float) -> None:
        """Diagnose while the run goes on, within a share of the wall clock; say at once what is certainly wrong."""
        if self._record.stopped is not None:
            return
        try:
            report = self._diagnose()
        finally:
            self._live_spent += time.monotonic() - now
            self._live_next = self._started + max(2.0 * (now - self._started), self._live_spent / _LIVE_SHARE)
        for finding in report.findings:
            if finding.code not in self._reported:
                self._reported.add(finding.code)
                self._record.append_finding(finding)
                if finding.severity == "error" and not finding.follows and not self._quiet:
                    print(f"rldebug: error[{finding.code}] {finding.message} ({finding.where})", file=sys.stderr)

    def _look(self, frame: FrameType) -> None:
        """At a line just written: with the traps, and now and then with all rules."""
        reading = self._record.last
        if reading is None or reading is self._examined:
            return
        self._examined = reading
        now = time.monotonic()
        if now >= self._live_next:
            with _Sandbox(self, "live look"):
                self._look_live(now)
        for trap, action in list(self._traps):
            try:
                finding = sprung(trap, reading)
            except Exception:
                self._collect.failed(f"trap {trap}")
                continue
            if finding is not None:
                self._traps.remove((trap, action))  # it has told where it first holds
                act(action, finding, reading, self._record, self._collect.tensors(), frame)

    def _receive(self, call: str, build: Callable[..., Any], given: dict[str, Any], frame: FrameType) -> None:
        if self._closed is not None:
            return
        rows = self._check(call, build, given)
        if build is transitions_of:
            with _Sandbox(self, "replay"):
                self._collect.saw_replay(given, frame)
            return
        with _Sandbox(self, "rollout"):
            self._collect.saw_rollout(given, rows, frame)
        self._look(frame)

    def _check(self, call: str, build: Callable[..., Any], given: dict[str, Any]) -> int:
        """Check shapes, dtypes and devices once per combination; after that the call costs a look-up. Returns rows."""
        key = (call, *signature(given))
        rows = self._checked.get(key)
        if rows is None:
            build(call, given)
            if len(self._checked) > 1000:
                self._checked.clear()  # episodes of ever new lengths
            one_per_row = (given[name] for name in _ONE_PER_ROW if name in given)
            rows = self._checked[key] = next((_size(each) for each in one_per_row), 0)
        return rows


class _Sandbox:
    """What goes wrong inside rldebug is listed as broken; the training goes on."""

    def __init__(self, watch: Watch, what: str) -> None:
        self.watch, self.what = watch, what

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, Exception) and not isinstance(error, HandoverError):
            self.watch._collect.failed(f"watch.{self.what}")
            return True
        return False


def _users_frame() -> FrameType:
    """The innermost frame that is neither torch's nor ours."""
    ours = (str(Path(__file__).parent), str(Path(torch.__file__).parent))
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(ours):
        frame = frame.f_back
    return frame


def _size(given: Any) -> int:
    if isinstance(given, (list, tuple)):
        return sum(_size(each) for each in given)
    return given.numel() if isinstance(given, Tensor) else int(np.size(given))


def _named_optimizers(given: Any) -> dict[str, Optimizer]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        named = {str(name): each for name, each in given.items()}
    elif isinstance(given, (list, tuple)):
        named = {f"optimizer{i}": each for i, each in enumerate(given)}
    else:
        named = {"optimizer": given}
    for name, each in named.items():
        if not isinstance(each, Optimizer):
            raise TypeError(
                f"rldebug.watch(optimizer=...): {name} is a {type(each).__name__}, expected a torch.optim.Optimizer"
            )
    return named
