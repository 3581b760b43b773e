"""What the peers of the bug benchmark share: the question, the answer, and a recorder that programs know nothing of.

A peer is asked with `python NAME.py CASE.json REPORT.json`, the program's folder being the working directory. The
recorder looks on while the program runs: it draws no random number, changes no value, and keeps its own errors to
itself. Everything it keeps is plain numbers, so that a forked worker can hand it to its parent.

Before anything else this module takes its folder off `sys.path` and itself out of `sys.modules`: peers are called like
the packages they ask, and a program may have a recorder.py of its own.
"""

from __future__ import annotations

import bisect
import builtins
import copy
import functools
import importlib.util
import json
import math
import multiprocessing.util
import operator
import os
import pickle
import runpy
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

_HERE = Path(__file__).resolve().parent

_WALL = 8.0  # seconds for each CPU second a program has: others run beside it


class NotApplicable(Exception):
    """The tool cannot be asked about this program: says why."""


@dataclass(frozen=True)
class Case:
    """The question."""

    entry: str
    args: tuple[str, ...] = ()
    env_check: dict[str, str] = field(default_factory=dict)
    probe: dict[str, Any] = field(default_factory=dict)
    cpu_seconds: float = 40.0
    measured: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """One thing the peer says, in our words for components: "" where it names none."""

    code: str
    component: str
    severity: str  # error, warning or note
    message: str
    file: str | None = None
    line: int | None = None
    env_step: int | None = None

    def told(self) -> dict[str, Any]:
        where = {"file": self.file, "line": self.line, "env_step": self.env_step}
        told = {"code": self.code, "component": self.component, "severity": self.severity, "message": self.message}
        return {**told, "where": where}


def read_case(file: str | Path) -> Case:
    data = json.loads(Path(file).read_text(encoding="utf-8"))
    known = {each: data[each] for each in Case.__dataclass_fields__ if each in data}
    return Case(**{**known, "args": tuple(known.get("args", ()))})


def ask(judge: Callable[[Case], list[Finding]], case: Case) -> dict[str, Any]:
    sys.path[:] = [each for each in sys.path if each == "" or Path(each).resolve() != _HERE]
    sys.modules.pop(__name__, None)
    try:
        findings = judge(case)
    except NotApplicable as why:
        return {"findings": [], "not_applicable": str(why)}
    return {"findings": [each.told() for each in findings], "not_applicable": ""}


def answer(judge: Callable[[Case], list[Finding]]) -> None:
    """The whole of a peer's main: never comes back, whatever threads the program has left."""
    case, report = read_case(sys.argv[1]), Path(sys.argv[2]).resolve()
    status = 1
    try:
        report.write_text(json.dumps(ask(judge, case), indent=1), encoding="utf-8")
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)


# The program


class Stopped(BaseException):
    """It used up its time."""


def run_program(case: Case, watching: AbstractContextManager[Any]) -> BaseException | None:
    """The program to its end, in this process; what it raised, if anything."""
    folder = Path.cwd()
    kept = list(sys.argv), list(sys.path), set(sys.modules)
    try:
        with watching:
            sys.argv = [case.entry, *case.args]
            sys.path.insert(0, str(folder))
            return _run(folder / case.entry, case.cpu_seconds)
    finally:
        sys.argv, sys.path[:] = kept[0], kept[1]
        for name in set(sys.modules) - kept[2]:
            if _inside(getattr(sys.modules[name], "__file__", None), folder):
                del sys.modules[name]


def _run(entry: Path, cpu_seconds: float) -> BaseException | None:
    try:
        with _limited(cpu_seconds):
            runpy.run_path(str(entry), run_name="__main__")
    except SystemExit as end:
        return None if end.code in (None, 0) else end
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        traceback.print_exception(error)
        return error
    return None


@contextmanager
def _limited(cpu_seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped(f"stopped after {cpu_seconds:g} CPU seconds")

    timers = {
        signal.SIGPROF: (signal.ITIMER_PROF, cpu_seconds),
        signal.SIGALRM: (signal.ITIMER_REAL, _WALL * cpu_seconds),
    }
    before = {each: signal.signal(each, stop) for each in timers}
    for timer, seconds in timers.values():
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for number, (timer, _) in timers.items():
            signal.setitimer(timer, 0.0)
            signal.signal(number, before[number])


def place(error: BaseException) -> tuple[str | None, int | None]:
    """The innermost line of a traceback that lies in the program's folder."""
    inside = [each for each in traceback.extract_tb(error.__traceback__) if _inside(each.filename, Path.cwd())]
    return (Path(inside[-1].filename).name, inside[-1].lineno) if inside else (None, None)


def load_target(target: str) -> Callable[[], Any]:
    """The class or function that "grid.py:GridWorld" names."""
    file, _, name = target.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        spec = importlib.util.spec_from_file_location(Path(file).stem, Path.cwd() / file)
        if spec is None or spec.loader is None:
            raise NotApplicable(f"{file} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    found: Callable[[], Any] = getattr(module, name)
    return found


def _inside(file: Any, folder: Path) -> bool:
    return isinstance(file, str) and Path(file).parent == folder


# What was seen


@dataclass
class Stream:
    """One environment, step after step; of a vector of them, one. Columns of equal length."""

    about: dict[str, Any]
    at: list[int] = field(default_factory=list)  # steps of all environments until then
    update: list[int] = field(default_factory=list)
    reward: list[float] = field(default_factory=list)
    ended: list[bool] = field(default_factory=list)
    low: list[float] = field(default_factory=list)  # of the observation
    high: list[float] = field(default_factory=list)
    obs: list[int] = field(default_factory=list)  # its hash
    action: list[int] = field(default_factory=list)  # the action where discrete, else its hash


@dataclass
class Log:
    """All that was recorded. Places are (optimizer steps, environment steps) until then, in this order."""

    env_steps: int = 0
    updates: int = 0
    trained_until: int = 0  # environment steps before the last optimizer step
    streams: list[Stream] = field(default_factory=list)
    steps: list[tuple[int, int, int, float, int, float, float]] = field(default_factory=list)
    """One for each optimizer step: update, env steps, optimizer, gradient norm before clipping, how many gradients
    are not finite, learning rate, clock."""
    losses: dict[str, list[tuple[int, int, float]]] = field(default_factory=dict)  # by the line that calls backward
    entropies: list[tuple[int, float]] = field(default_factory=list)  # as the program computes them
    own_entropies: list[tuple[int, float]] = field(default_factory=list)  # computed here, of what it computes with
    action_entropies: list[tuple[int, float]] = field(default_factory=list)  # (env steps, of 50 steps together)
    kls: list[tuple[int, float]] = field(default_factory=list)  # (env steps, of the policy to itself 100 steps before)
    epsilons: list[tuple[int, float]] = field(default_factory=list)
    weights: dict[str, list[tuple[int, int, float, float, float]]] = field(default_factory=dict)
    """By parameter: (update, env steps, mean |w|, share below 1e-5 in size, share negative)."""
    initial: dict[str, tuple[tuple[int, ...], float]] = field(default_factory=dict)  # shape and variance
    activations: list[tuple[str, int, int, float, float, float]] = field(default_factory=list)
    """(layer, update, env steps, share of neurons dead, share saturated, standard deviation)."""
    targets: dict[str, list[tuple[int, int, bool, bool]]] = field(default_factory=dict)
    """By network that no optimizer holds and that has a twin which one does: (update, env steps, whether it changed
    since, whether it equals the twin)."""
    acted: dict[str, int] = field(default_factory=dict)  # network: environment steps that it chose the action for

    def training(self) -> list[Stream]:
        """The environments that were learned from, as far as learning went: not those that were only evaluated on."""
        cut = [_until(each, self.trained_until or self.env_steps) for each in self.streams]
        most = max((len(each.at) for each in cut), default=0)
        return [each for each in cut if each.at and len(each.at) * 2 >= most]


def episodes(stream: Stream) -> list[tuple[int, int]]:
    """First row and row after the last of each episode that came to an end."""
    found, first = [], 0
    for row, ended in enumerate(stream.ended):
        if ended:
            found.append((first, row + 1))
            first = row + 1
    return found


def _until(stream: Stream, step: int) -> Stream:
    kept = bisect.bisect_right(stream.at, step)
    if kept == len(stream.at):
        return stream
    columns = {name: value[:kept] for name, value in vars(stream).items() if name != "about"}
    return Stream(stream.about, **columns)


def rows(log: Log, most: int = 1000) -> list[dict[str, float]]:
    """What a program that logs its training would have logged: one row for each update of all optimizers.

    At most so many: of longer runs each is the mean of several. A number that is not finite stays one.
    """
    returns = sorted(
        (stream.at[last - 1], sum(stream.reward[first:last]))
        for stream in log.training()
        for first, last in episodes(stream)
    )
    losses: dict[int, float] = {}
    for series in log.losses.values():
        for update, _, value in series:
            losses[update] = losses.get(update, 0.0) + value
    entropies = dict(log.entropies or log.own_entropies)
    cycles = list(_cycles(log))
    size = math.ceil(len(cycles) / most) if cycles else 1
    made, done = [], 0
    for start in range(0, len(cycles), size):
        block = cycles[start : start + size]
        flat = [each for cycle in block for each in cycle]
        until = flat[-1][1]
        while done < len(returns) and returns[done][0] <= until:
            done += 1
        row: dict[str, float] = {"step": float(flat[-1][0]), "env_step": float(until)}
        recent = [value for _, value in returns[max(0, done - 20) : done]]
        if recent:
            row["reward"] = _mean(recent)
        # backward comes before the step that counts it: its place is the number of the step before
        lost = [[losses[each[0] - 1] for each in cycle if each[0] - 1 in losses] for cycle in block]
        if any(lost):
            row["loss"] = _mean([sum(each) for each in lost if each])
        row["grad_norm"] = _mean([math.hypot(*(each[3] for each in cycle)) for cycle in block])
        row["nonfinite"] = float(sum(each[4] for each in flat))
        row["lr"] = flat[0][5]
        seen = [entropies[each[0] - 1] for each in flat if each[0] - 1 in entropies]
        if seen:
            row["entropy"] = _mean(seen)
        if start:
            row["seconds"] = (flat[-1][6] - cycles[start - 1][-1][6]) / len(block)
        made.append(row)
    return made


def _cycles(log: Log) -> Iterator[list[tuple[int, int, int, float, int, float, float]]]:
    """Optimizer steps until one of the optimizers steps again: actor, critic and temperature are one update."""
    cycle: list[tuple[int, int, int, float, int, float, float]] = []
    for each in log.steps:
        if any(each[2] == other[2] for other in cycle):
            yield cycle
            cycle = []
        cycle.append(each)
    if cycle:
        yield cycle


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


# The recorder

_NAMES_OF_EPSILON = ("epsilon", "eps", "exploration_rate", "explore_rate", "exploration_prob")
_NAMES_OF_TARGETS = ("target", "tgt", "tnet", "targ")
_EVERY_EPSILON = 1000  # environment steps
_EVERY_ENTROPY = 50
_EVERY_KL = 100
_EVERY_TARGET = 100  # optimizer steps
_IN_A_ROW = 3  # so that a target that is copied now and then is not always met just then
_EVERY_WEIGHTS = 10
_EVERY_ACTIVATION = 50  # calls of a layer with a batch
_BATCH = 16  # rows and more are a batch: percentiles over fewer say nothing
_FIXED = 32  # observations


class Recorder:
    """Looks on while a program runs: `with Recorder() as recorder: …`, then `recorder.log`."""

    def __init__(self, *, networks: bool = True) -> None:
        self.log = Log()
        self._networks = networks  # also weights, activations, targets and the policy's change: what costs more
        self._folder = Path.cwd()
        self._undo: list[Callable[[], None]] = []
        self._inside = 0  # environments calling environments
        self._quiet = 0  # our own calls
        self._wrapped: set[type] = set()
        self._known: dict[int, tuple[Any, list[int]]] = {}  # environment: a reference to it, its streams
        self._fresh: set[int] = set()  # streams that were reset and not stepped since
        self._stepping = 0  # environment steps that were recorded, for those that only look like environments
        self._n_actions = 0
        self._optimizers: dict[int, int] = {}
        self._parameters: set[int] = set()  # that any optimizer holds
        self._clipped: float | None = None
        self._modules: dict[int, weakref.ref[Any]] = {}
        self._calls: dict[int, int] = {}
        self._pending: tuple[Any, Any, Any] | None = None  # scores of actions, the module that gave them, its input
        self._sum: list[float] = []
        self._fixed: list[Any] = []
        self._before: Any = None  # the policy on the fixed observations, and the module
        self._last: dict[str, Any] = {}
        self._errors = 0
        self._dumps = Path(tempfile.mkdtemp(prefix="peers-"))

    def __reduce__(self) -> Any:  # an environment sent to another process takes the wrapper along, and nothing else
        return int, ()

    def __enter__(self) -> Recorder:
        import torch

        self._torch = torch
        self._patch_environments()
        self._patch_torch()
        multiprocessing.util.register_after_fork(self, _in_a_child)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()
        if not self.log.updates:
            self._adopt()
        shutil.rmtree(self._dumps, ignore_errors=True)

    def _adopt(self) -> None:
        """Where all learning was done by forked workers: what the first of them saw."""
        for file in sorted(self._dumps.iterdir()):
            data = pickle.loads(file.read_bytes())
            if data["updates"]:
                data["streams"] = [Stream(**each) for each in data["streams"]]
                self.log = Log(**data)
                return

    def _dump(self) -> None:
        rank = "-".join(f"{each:03}" for each in multiprocessing.current_process()._identity)
        data = {**vars(self.log), "streams": [vars(each) for each in self.log.streams]}
        (self._dumps / (rank or "main")).write_bytes(pickle.dumps(data))

    def _set(self, owner: Any, name: str, value: Any) -> None:
        own = vars(owner).get(name, _NOTHING)
        setattr(owner, name, value)
        if own is _NOTHING:
            self._undo.append(lambda: delattr(owner, name))
        else:
            self._undo.append(lambda: setattr(owner, name, own))

    def _safely(self, look: Callable[..., None], *given: Any) -> None:
        self._quiet += 1
        try:
            look(*given)
        except Exception as error:  # what cannot be read is not recorded; the program goes on
            self._errors += 1
            if os.environ.get("PEERS_DEBUG"):
                traceback.print_exception(error)
        finally:
            self._quiet -= 1

    # Environments

    def _patch_environments(self) -> None:
        if importlib.util.find_spec("gymnasium") is not None:
            import gymnasium

            waiting: list[type] = [gymnasium.Env, gymnasium.vector.VectorEnv]
            while waiting:
                cls = waiting.pop()
                self._consider(cls)
                waiting += cls.__subclasses__()
        build = builtins.__build_class__

        def watched(body: Any, name: str, /, *bases: Any, **given: Any) -> Any:
            made = build(body, name, *bases, **given)
            self._safely(self._consider, made)
            return made

        self._set(builtins, "__build_class__", watched)

    def _consider(self, cls: type) -> None:
        """Whether it is an environment; its methods are watched if so."""
        if not isinstance(cls, type) or cls in self._wrapped or not {"step", "reset"} & set(vars(cls)):
            return
        gym = sys.modules.get("gymnasium")
        real = gym is not None and issubclass(cls, (gym.Env, gym.vector.VectorEnv))
        if not real:
            torch = self._torch
            others = (torch.nn.Module, torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler)
            own = _inside(getattr(sys.modules.get(cls.__module__), "__file__", None), self._folder)
            whole = callable(getattr(cls, "step", None)) and callable(getattr(cls, "reset", None))
            if not own or not whole or issubclass(cls, others):
                return
        self._wrapped.add(cls)
        for name, made in (("step", self._step), ("reset", self._reset)):
            if callable(vars(cls).get(name)):
                self._set(cls, name, made(vars(cls)[name], real))

    def _step(self, original: Any, real: bool) -> Any:
        recorder = self

        @functools.wraps(original)
        def step(env: Any, *given: Any, **named: Any) -> Any:
            if not recorder or recorder._quiet or (real and recorder._inside):
                return original(env, *given, **named)
            action = next(iter(given), None) if given else next(iter(named.values()), None)
            acted: list[Any] = []
            recorder._safely(recorder._before_step, env, action, acted)
            seen = recorder._stepping
            recorder._inside += real
            try:
                result = original(env, *given, **named)
            finally:
                recorder._inside -= real
            if recorder._stepping == seen:  # else it handed the step on to an environment that is recorded itself
                recorder._safely(recorder._stepped, env, acted, result)
            return result

        return step

    def _reset(self, original: Any, real: bool) -> Any:
        recorder = self

        @functools.wraps(original)
        def reset(env: Any, *given: Any, **named: Any) -> Any:
            if not recorder or recorder._quiet or (real and recorder._inside):
                return original(env, *given, **named)
            recorder._inside += real
            try:
                result = original(env, *given, **named)
            finally:
                recorder._inside -= real
            recorder._safely(recorder._was_reset, env)
            return result

        return reset

    def _before_step(self, env: Any, action: Any, acted: list[Any]) -> None:
        import numpy as np

        if self.log.env_steps // _EVERY_EPSILON >= len(self.log.epsilons):
            self._read_epsilon()
        acted.append(np.array(_numbers(action)).ravel())

    def _was_reset(self, env: Any) -> None:
        reference, streams = self._known.get(id(env), (None, []))
        if reference is not None and reference() is env:
            self._fresh.update(streams)
            for each in streams:
                if self.log.streams[each].ended:
                    self.log.streams[each].ended[-1] = True

    def _stepped(self, env: Any, acted: list[Any], result: Any) -> None:
        import numpy as np

        if not isinstance(result, tuple) or not 3 <= len(result) <= 5:
            return
        log = self.log
        rewards = np.asarray(_numbers(result[1]), dtype=float).ravel()
        ended = np.asarray(_numbers(result[2])).ravel().astype(bool)
        if len(result) == 5:
            ended = ended | np.asarray(_numbers(result[3])).ravel().astype(bool)
        n = len(rewards)
        if not n or len(ended) != n:
            return
        obs = _numbers(result[0])
        table = np.asarray(obs).reshape(n, -1) if np.size(obs) % n == 0 else np.asarray(obs).reshape(1, -1)
        if len(table) != n:
            return
        lows, highs = table.min(1).tolist(), table.max(1).tolist()
        actions = self._actions(acted[0] if acted else np.zeros(0), n)
        streams = self._streams(env, n)
        waits = _next_step_autoreset(env)
        self._stepping += 1
        for i, index in enumerate(streams):
            stream = log.streams[index]
            if waits and stream.ended and stream.ended[-1] and index not in self._fresh:
                self._fresh.add(index)  # the step that only resets
                continue
            self._fresh.discard(index)
            log.env_steps += 1
            stream.at.append(log.env_steps)
            stream.update.append(log.updates)
            stream.reward.append(float(rewards[i]))
            stream.ended.append(bool(ended[i]))
            stream.low.append(lows[i])
            stream.high.append(highs[i])
            stream.obs.append(hash(table[i].tobytes()))
            stream.action.append(actions[i])
        self._chosen(n)

    def _actions(self, action: Any, n: int) -> list[int]:
        if len(action) == n and (action.dtype.kind in "iub" or self._n_actions):
            return [int(each) for each in action]
        if len(action) % n:
            return [0] * n
        return [hash(each.tobytes()) for each in action.reshape(n, -1)]

    def _streams(self, env: Any, n: int) -> list[int]:
        reference, streams = self._known.get(id(env), (None, []))
        if reference is not None and reference() is env and len(streams) == n:
            return streams
        about = _about(env)
        self._n_actions = self._n_actions or about["n_actions"]
        streams = list(range(len(self.log.streams), len(self.log.streams) + n))
        self.log.streams += [Stream(dict(about)) for _ in range(n)]
        try:
            self._known[id(env)] = (weakref.ref(env), streams)
        except TypeError:
            self._known[id(env)] = (lambda: env, streams)
        return streams

    def _read_epsilon(self) -> None:
        """A variable called epsilon on the way from the environment up: a user of the tool would hand it over."""
        for frame in self._frames():
            own = getattr(frame.f_locals.get("self"), "__dict__", {})
            for name in _NAMES_OF_EPSILON:
                for where in (frame.f_locals, own, frame.f_globals):
                    value = where.get(name)
                    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0.0 <= value <= 1.5:
                        self.log.epsilons.append((self.log.env_steps, float(value)))
                        return
        self.log.epsilons.append((self.log.env_steps, math.nan))

    # What chose the action

    def _chosen(self, n: int) -> None:
        pending, self._pending = self._pending, None
        if pending is None:
            return
        scores, module, given = pending
        torch, log = self._torch, self.log
        if len(scores) > max(n, len(log.streams)):
            return  # a batch to learn from: this action was not chosen by a network
        name = self._name(module)
        log.acted[name] = log.acted.get(name, 0) + 1
        total = scores.sum(-1)
        shares = bool((scores >= 0).all()) and bool(((total - 1.0).abs() < 1e-4).all())
        p = scores if shares else torch.softmax(scores, -1)
        self._sum.append(float(-(p * p.clamp_min(1e-12).log()).sum(-1).mean()))
        if len(self._sum) >= _EVERY_ENTROPY:
            log.action_entropies.append((log.env_steps, _mean(self._sum)))
            self._sum.clear()
        if self._networks:
            self._policy_change(module, given, len(scores))

    def _policy_change(self, module: Any, given: Any, rows: int) -> None:
        torch, log = self._torch, self.log
        if not isinstance(given, torch.Tensor) or len(list(module.parameters())) <= 2:
            return  # a single layer is not the policy
        if sum(len(each) for each in self._fixed) < _FIXED:
            self._fixed.append((given[None] if rows == 1 and given.dim() == 1 else given).detach().clone())
            return
        if log.kls and log.env_steps - log.kls[-1][0] < _EVERY_KL:
            return
        log.kls.append((log.env_steps, 0.0))  # first of all: where it cannot be computed it is not tried at once again
        inputs = torch.cat(self._fixed)[:_FIXED]
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            out = copy.deepcopy(module).eval()(inputs)
        scores = next(each for each in _tensors(out) if each.shape[-1] == self._n_actions)
        now = torch.log_softmax(scores.reshape(-1, self._n_actions), -1)
        if self._before is not None and self._before.shape == now.shape:
            log.kls[-1] = log.env_steps, float((self._before.exp() * (self._before - now)).sum(-1).mean())
        self._before = now

    def _name(self, module: Any) -> str:
        return f"{type(module).__name__} {id(module)}"

    # torch

    def _patch_torch(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_pre_hook

        torch = self._torch
        forward = torch.nn.modules.module.register_module_forward_hook(
            lambda module, given, out: None if self._quiet else self._safely(self._forward, module, given, out)
        )
        before = register_optimizer_step_pre_hook(
            lambda optimizer, given, named: self._safely(self._before_update, optimizer)
        )
        self._undo += [forward.remove, before.remove]
        backward, clip = torch.autograd.backward, torch.nn.utils.clip_grad_norm_

        @functools.wraps(backward)
        def watched_backward(tensors: Any, *given: Any, **named: Any) -> Any:
            self._safely(self._loss, tensors)
            return backward(tensors, *given, **named)

        @functools.wraps(clip)
        def watched_clip(*given: Any, **named: Any) -> Any:
            norm = clip(*given, **named)
            self._safely(self._clip, norm)
            return norm

        self._set(torch.autograd, "backward", watched_backward)
        for module in (torch.nn.utils, torch.nn.utils.clip_grad):
            self._set(module, "clip_grad_norm_", watched_clip)
        self._patch_distributions()

    def _patch_distributions(self) -> None:
        torch = self._torch
        waiting = [torch.distributions.Distribution]
        while waiting:
            cls = waiting.pop()
            waiting += cls.__subclasses__()
            if cls is torch.distributions.Distribution:
                continue
            if "entropy" in vars(cls):
                self._set(cls, "entropy", self._observed(vars(cls)["entropy"], self._entropy))
            if "log_prob" in vars(cls):
                self._set(cls, "log_prob", self._observed(vars(cls)["log_prob"], self._log_prob))
        for owner in (torch, torch.nn.functional, torch.Tensor):
            for name in ("softmax", "log_softmax"):
                self._set(owner, name, self._observed(getattr(owner, name), self._softmax))

    def _observed(self, original: Any, look: Callable[[Any, Any], None]) -> Any:
        @functools.wraps(original)
        def observed(*given: Any, **named: Any) -> Any:
            out = original(*given, **named)
            if not self._quiet:
                self._safely(look, given[0] if given else None, out)
            return out

        return observed

    def _entropy(self, distribution: Any, out: Any) -> None:
        self._keep(self.log.entropies, float(out.detach().mean()))

    def _log_prob(self, distribution: Any, out: Any) -> None:
        if out.requires_grad and not self.log.entropies and not self._has(self.log.own_entropies):
            with self._torch.no_grad():
                self._keep(self.log.own_entropies, float(distribution.entropy().mean()))

    def _softmax(self, given: Any, out: Any) -> None:
        if out.requires_grad and out.dim() and out.shape[-1] == self._n_actions and not self.log.entropies:
            if self._has(self.log.own_entropies):
                return
            scores = given.detach()
            p = self._torch.softmax(scores, -1)
            entropy = float(-(p * p.clamp_min(1e-12).log()).sum(-1).mean())
            self._keep(self.log.own_entropies, entropy)

    def _has(self, series: list[tuple[int, float]]) -> bool:
        return bool(series) and series[-1][0] == self.log.updates

    def _keep(self, series: list[tuple[int, float]], value: float) -> None:
        """The last one seen before each update."""
        if self._has(series):
            series[-1] = (self.log.updates, value)
        else:
            series.append((self.log.updates, value))

    def _loss(self, tensors: Any) -> None:
        log = self.log
        for each in [tensors] if isinstance(tensors, self._torch.Tensor) else list(tensors):
            if each.numel() == 1:
                log.losses.setdefault(self._caller(), []).append((log.updates, log.env_steps, float(each.detach())))

    def _caller(self) -> str:
        frame: FrameType | None = sys._getframe(4)
        folder = str(Path(self._torch.__file__).parent)
        while frame is not None:
            if not frame.f_code.co_filename.startswith(folder):
                return f"{frame.f_code.co_filename}:{frame.f_lineno}"
            frame = frame.f_back
        return "?"

    def _clip(self, norm: Any) -> None:
        self._clipped = math.hypot(self._clipped or 0.0, float(norm))

    def _before_update(self, optimizer: Any) -> None:
        torch, log = self._torch, self.log
        log.updates += 1
        log.trained_until = log.env_steps
        number = self._optimizers.setdefault(id(optimizer), len(self._optimizers))
        parameters = [each for group in optimizer.param_groups for each in group["params"]]
        gradients = [each.grad.detach() for each in parameters if each.grad is not None]
        clipped, self._clipped = self._clipped, None
        norm, bad = 0.0, 0
        if gradients:
            norm = float(torch.stack([each.norm() for each in gradients]).norm())
            if not math.isfinite(norm):
                bad = sum(int((~each.isfinite()).sum()) for each in gradients)
        if clipped is not None and not bad:
            norm = clipped
        lr = float(optimizer.param_groups[0].get("lr", math.nan))
        log.steps.append((log.updates, log.env_steps, number, norm, bad, lr, time.perf_counter()))
        if not self._networks:
            return
        first = f"{number}." not in self._last
        self._last[f"{number}."] = count = self._last.get(f"{number}.", -1) + 1
        if first or count % _EVERY_WEIGHTS == 0:
            self._parameters.update(id(each) for each in parameters)
            for i, each in enumerate(parameters):
                self._weight(f"optimizer {number}, parameter {i}, {tuple(each.shape)}", each.detach(), first)
        if count % _EVERY_TARGET < _IN_A_ROW:
            self._look_at_targets({id(each) for each in parameters})

    def _weight(self, name: str, weight: Any, first: bool) -> None:
        log = self.log
        if first:
            variance = float(weight.var()) if weight.numel() > 1 else 0.0
            log.initial[name] = (tuple(weight.shape), variance)
        size = weight.abs()
        row = float(size.mean()), float((size < 1e-5).float().mean()), float((weight < 0).float().mean())
        log.weights.setdefault(name, []).append((log.updates, log.env_steps, *row))

    def _look_at_targets(self, parameters: set[int]) -> None:
        """Before a step of the optimizer that holds these."""
        torch, log = self._torch, self.log
        alive = [module for each in self._modules.values() if (module := each()) is not None]
        held: list[Any] = []
        free: list[Any] = []
        for module in alive:
            own = [id(each) for each in module.parameters()]
            if own and parameters.issuperset(own):
                held.append(module)
            elif own and self._parameters.isdisjoint(own):
                free.append(module)
        for module in free:
            weights = [each.detach() for each in module.parameters()]
            shapes = [each.shape for each in weights]
            like = [list(each.parameters()) for each in held if type(each) is type(module)]
            twins = [each for each in like if [one.shape for one in each] == shapes]
            if not twins:
                continue
            name = self._name(module)
            flat = torch.cat([each.reshape(-1) for each in weights]).clone()
            before = self._last.get(name)
            changed = before is not None and not torch.equal(before, flat)
            equal = any(all(torch.equal(a, b) for a, b in zip(weights, twin, strict=True)) for twin in twins)
            self._last[name] = flat
            log.targets.setdefault(name, []).append((log.updates, log.env_steps, changed, equal))

        for name in self._trained_under_two_names(parameters):
            log.targets.setdefault(name, []).append((log.updates, log.env_steps, True, True))

    def _trained_under_two_names(self, parameters: set[int]) -> set[str]:
        """Networks an optimizer holds that the program calls a target, and something else too: handed over as both."""
        held: dict[int, Any] = {}
        names: dict[int, set[bool]] = {}
        for frame in self._frames():
            own = getattr(frame.f_locals.get("self"), "__dict__", {})
            for where in (frame.f_locals, {**own, **own.get("_modules", {})}):
                for name, value in list(where.items()):
                    if isinstance(value, self._torch.nn.Module) and name != "self":
                        held[id(value)] = value
                        names.setdefault(id(value), set()).add(any(each in name.lower() for each in _NAMES_OF_TARGETS))
        both = [held[each] for each, called in names.items() if len(called) == 2]
        return {self._name(each) for each in both if parameters.issuperset(id(one) for one in each.parameters())}

    def _frames(self) -> Iterator[FrameType]:
        """Of the program, from where it is now up."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if _inside(frame.f_code.co_filename, self._folder):
                yield frame
            frame = frame.f_back

    def _forward(self, module: Any, given: Any, out: Any) -> None:
        if self._networks:
            if id(module) not in self._modules and next(module.children(), None) is not None:
                self._modules[id(module)] = weakref.ref(module)
            if type(module).__name__ in _ACTIVATIONS:
                self._activation(module, out)
        n = self._n_actions
        if n:
            for each in _tensors(out):
                if each.dim() and each.shape[-1] == n and each.is_floating_point():
                    scores = each.detach().reshape(-1, n)
                    self._pending = (scores.clone(), module, given[0] if len(given) == 1 else None)
                    return

    def _activation(self, module: Any, out: Any) -> None:
        torch, log = self._torch, self.log
        if out.dim() < 2:
            return
        values = out.detach().float()
        values = values.reshape(-1, out.shape[-1]) if out.dim() <= 3 else values.reshape(len(out), -1)
        if len(values) < _BATCH:
            return
        count = self._calls[id(module)] = self._calls.get(id(module), -1) + 1
        if count % _EVERY_ACTIVATION:
            return
        dead = (torch.quantile(values.abs(), 0.95, dim=0) < 1e-5).float().mean()
        kind = type(module).__name__
        saturated = 0.0
        if kind in ("Tanh", "Sigmoid"):
            scaled = values if kind == "Tanh" else 2.0 * values - 1.0
            saturated = float((_saturation(torch, scaled) > 0.85).float().mean())
        name = f"{kind} {tuple(values.shape[1:])} {list(self._calls).index(id(module))}"
        log.activations.append((name, log.updates, log.env_steps, float(dead), saturated, float(values.std())))


_ACTIVATIONS = {"ReLU", "LeakyReLU", "ELU", "SELU", "GELU", "SiLU", "Tanh", "Sigmoid", "Softplus", "Hardtanh"}
_NOTHING = object()


def _saturation(torch: Any, values: Any, bins: int = 50) -> Any:
    """ρ_B of Rakitianskaia and Engelbrecht, of each column: the size of the bins' means, weighted by their counts."""
    index = ((values + 1.0) / 2.0 * bins).long().clamp(0, bins - 1)
    counts = torch.zeros(bins, values.shape[1]).scatter_add_(0, index, torch.ones_like(values))
    sums = torch.zeros(bins, values.shape[1]).scatter_add_(0, index, values)
    return sums.abs().sum(0) / counts.sum(0)


def _in_a_child(recorder: Recorder) -> None:
    if not recorder._undo:
        return  # the program has ended
    recorder.log = Log()
    multiprocessing.util.Finalize(None, recorder._dump, exitpriority=10)


def _tensors(out: Any) -> list[Any]:
    torch = sys.modules["torch"]
    if isinstance(out, torch.Tensor):
        return [out]
    return [each for each in out if isinstance(each, torch.Tensor)] if isinstance(out, (tuple, list)) else []


def _numbers(value: Any) -> Any:
    """Whatever an environment speaks, as one array."""
    import numpy as np

    torch = sys.modules["torch"]
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy()
    if isinstance(value, dict):
        return np.concatenate([np.ravel(_numbers(value[each])) for each in sorted(value)])
    if isinstance(value, tuple) and not all(isinstance(each, (int, float)) for each in value):
        return np.concatenate([np.ravel(_numbers(each)) for each in value])
    return np.asarray(value)


def _next_step_autoreset(env: Any) -> bool:
    mode = (getattr(env, "metadata", None) or {}).get("autoreset_mode")
    return getattr(mode, "name", "") == "NEXT_STEP"


def _about(env: Any) -> dict[str, Any]:
    actions = getattr(env, "single_action_space", None) or getattr(env, "action_space", None)
    spaces = getattr(env, "single_observation_space", None) or getattr(env, "observation_space", None)
    n = getattr(actions, "n", None)
    for name in ("n_actions", "num_actions", "n_act", "nA"):
        n = n if n is not None else getattr(env, name, None)
    spec = getattr(env, "spec", None) or getattr(next(iter(getattr(env, "envs", ())), None), "spec", None)
    return {
        "n_actions": operator.index(n) if n is not None and hasattr(n, "__index__") else 0,
        "spaces": [type(each).__name__ for each in (spaces, actions) if each is not None],
        "id": getattr(spec, "id", None),
        "reward_threshold": getattr(spec, "reward_threshold", None),
        "max_steps": getattr(spec, "max_episode_steps", None),
    }
