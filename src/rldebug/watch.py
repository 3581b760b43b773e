"""rldebug.watch: a few lines in your own training loop, and the run is recorded and diagnosed."""

from __future__ import annotations

import atexit
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from rldebug.capture.device import read_device
from rldebug.capture.gymnasium import EnvWatch
from rldebug.capture.modules import ActivationWatch, compiled
from rldebug.capture.optimizers import OptimizerWatch
from rldebug.capture.structure import audit_parameters, reach_of_losses, shapes_of
from rldebug.config import read_config
from rldebug.diagnose import diagnose
from rldebug.evidence.run import Run, read_run
from rldebug.finding import Report
from rldebug.record import Recorder, Schedule, new_run_folder, run_meta
from rldebug.rollout import (
    GradientWindow,
    HandoverError,
    Pace,
    Pair,
    Step,
    losses_of,
    rollout_of,
    signature,
    transitions_of,
    update_of,
)
from rldebug.trap import Predicate, act, set_traps, sprung

_UPDATE_DATA = ("logp_old", "target", "advantage", "collected_at")  # of an update: data, which may not carry a graph
_LIVE_SHARE = 0.01  # of the wall clock may go into looking while the run goes on
_NOISE_EVERY = 8  # detailed readings between two noise-scale windows


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
    every: int = 16,
    detail: int = 64,
    folder: str | Path = ".rldebug/runs",
    quiet: bool = False,
) -> Watch:
    """Record and diagnose a training loop. Every argument is optional; what is missing is listed as skipped.

    policy, critic, target   networks (the same module twice, where they share one)
    optimizer                one, several, or a dict of them by name
    env                      a Gymnasium environment, single or vectorised; go on using it as before
    gamma                    the discount, for the rules that need it
    info                     keys of `info` to record as metrics
    traps                    {rule or predicate: "raise" | "pdb" | "snapshot"}, e.g. {"nonfinite-gradient": "raise"}
    every, detail            one update in `every` is recorded, one in `detail` with per-layer metrics
    """
    return Watch(
        modules={"policy": policy, "critic": critic, "target": target},
        optimizer=optimizer,
        env=env,
        name=run,
        gamma=gamma,
        info=info,
        traps=traps or {},
        schedule=Schedule(every=1 if traps else every, detail=1 if traps else detail),
        root=Path(folder),
        quiet=quiet,
    )


class Watch:
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
    ) -> None:
        self._modules = {key: each for key, each in modules.items() if each is not None}
        for key, each in self._modules.items():
            if not isinstance(each, nn.Module):
                raise TypeError(f"rldebug.watch({key}=...) got a {type(each).__name__}, expected a torch.nn.Module")
        optimizers = _named_optimizers(optimizer)
        self._traps = set_traps(traps)
        self._quiet = quiet
        self._names = {
            id(each): f"{key}.{path}" for key, module in reversed(self._modules.items())
            for path, each in module.named_parameters()
        }  # fmt: skip
        self._env: EnvWatch | None = None
        if env is not None:
            self._env = EnvWatch(env, self._failed, self._saw_env_step, info)
            self._env.attach()
        self._optimizers = [
            OptimizerWatch(
                each, key, self._names, self._wants_step, self._saw_any_step, self._saw_step, self._saw_window,
                lambda: self._rows, self._failed,
            )
            for key, each in optimizers.items()
        ]  # fmt: skip
        for each_optimizer in self._optimizers:
            each_optimizer.attach()
        self._activations = ActivationWatch(self._modules, self._failed)

        self.age = 0  # learner steps so far: store it with a sample, hand it back as collected_at=
        self._rollouts = 0
        self._since_rollout: int | None = None
        self._rollout_logp: Tensor | None = None
        self._counted_env_steps = 0  # from rollouts, where no environment is watched
        self._rows: int | None = None
        self._checked: set[Any] = set()  # argument signatures that passed the checks
        self._open = False  # a recorded update waits for its optimizer step
        self._steps_first: bool | None = None  # whether the loop steps before it calls update(); None: not known yet
        self._stepped: set[str] = set()  # optimizers that stepped since the last update()
        self._taken: set[str] = set()  # optimizers whose step is in the line being collected
        self._step_only = False  # update() is never called: optimizer steps are the updates
        self._user: dict[str, Any] = {}
        self._calls: dict[str, list[Any]] = {}
        self._graphs: dict[str, list[str]] = {}
        self._details = 0
        self._pace = (time.monotonic(), 0, 0, 0)  # at the last reading: clock, env steps, updates, rows
        self._rows_total = 0
        self._device_read = 0.0
        self._examined: Any = None
        self._reported: set[str] = set()
        self._started = time.monotonic()
        self._live_spent, self._live_next = 0.0, self._started + 10.0
        self._closed: Report | None = None

        path = new_run_folder(root, name)
        meta = run_meta(
            name=path.name,
            gamma=gamma,
            modules={key: sum(each.numel() for each in module.parameters()) for key, module in self._modules.items()},
            optimizers={each.name: type(each.optimizer).__name__ for each in self._optimizers},
            compiled=[key for key, module in self._modules.items() if compiled(module)],
            env=self._env.facts() if self._env else None,
        )
        self._record = Recorder(path, meta, schedule)
        self._activations_if_due()
        self._at_exit = self.close
        atexit.register(self._at_exit)

    # ── what the user calls ─────────────────────────────────────────────────────────────────────────────────────────

    @property
    def path(self) -> Path:
        """The run folder."""
        return self._record.path

    @property
    def broken(self) -> Mapping[str, str]:
        """Hooks and metrics that failed and were switched off, with their tracebacks."""
        return self._record.broken

    def rollout(
        self,
        *,
        obs: Any = None,
        action: Any = None,
        reward: Any = None,
        terminated: Any = None,
        truncated: Any = None,
        value: Any = None,
        logp: Any = None,
        epsilon: float | None = None,
    ) -> None:
        """Hand over what acting produced, time-major `(T,)` or `(T, B)`; before the updates that learn from it."""
        given = _given(locals())
        frame = sys._getframe(1)
        self._check("dbg.rollout(...)", rollout_of, given)
        with _Sandbox(self, "rollout"):
            self._close_line()
            self._rollouts += 1
            self._since_rollout = 0
            size = next((each for each in (reward, terminated, value, logp) if each is not None), None)
            self._counted_env_steps += 0 if size is None else _size(size)
            self._rollout_logp = None
            if self._record.schedule.due(self._index, True):
                detail = self._record.schedule.due_detail(self._index)
                self._note_call("rollout", frame)
                self._note_graphs("rollout", given, tuple(given))
                rollout = rollout_of("dbg.rollout(...)", given)
                self._rollout_logp = rollout.logp
                self._record.measure(rollout, detail=detail)
                if not self.age and not self._optimizers:
                    self._flush()
        self._spring_traps(frame)

    def replay(
        self,
        *,
        obs: Any = None,
        action: Any = None,
        reward: Any = None,
        next_obs: Any = None,
        terminated: Any = None,
        truncated: Any = None,
    ) -> None:
        """Hand over a batch sampled from replay, `(N, …)`; before the update that learns from it."""
        given = _given(locals())
        frame = sys._getframe(1)
        self._check("dbg.replay(...)", transitions_of, given)
        with _Sandbox(self, "replay"):
            self._close_line()
            if self._record.schedule.due(self._index, False):
                self._note_call("replay", frame)
                self._note_graphs("replay", given, tuple(given))
                detail = self._record.schedule.due_detail(self._index)
                self._record.measure(transitions_of("dbg.replay(...)", given), detail=detail)

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
        clip: float | None = None,
        epsilon: float | None = None,
        collected_at: Any = None,
    ) -> None:
        """Hand over what one learner step saw, one number per row; once per optimizer step, before or after it."""
        given = _given(locals())
        frame = sys._getframe(1)
        self._check("dbg.update(...)", update_of, given)
        with _Sandbox(self, "update"):
            self._saw_update(given, frame)
        self._spring_traps(frame)

    def metric(self, name: str, value: Any) -> None:
        """Record a number of your own with the next reading, as `user/name` (or as named, if it has a slash)."""
        if not isinstance(name, str) or not name:
            raise HandoverError(f"dbg.metric(name, value): name is {name!r}, expected a string")
        number = value.detach() if isinstance(value, Tensor) else value
        if isinstance(number, Tensor) and number.numel() != 1:
            raise HandoverError(f"dbg.metric({name!r}, …): shape {tuple(number.shape)}, expected a single number")
        if not isinstance(number, Tensor):
            try:
                number = float(number)
            except (TypeError, ValueError):
                raise HandoverError(f"dbg.metric({name!r}, …): {value!r} is not a number") from None
        self._user[name if "/" in name else f"user/{name}"] = number

    def report(self) -> Report:
        """The diagnosis so far."""
        self._close_line()
        return self._diagnose()

    def close(self, error: BaseException | None = None) -> Report:
        """Stop watching, and print the diagnosis. Called by leaving the `with` block."""
        if self._closed is not None:
            return self._closed
        atexit.unregister(self._at_exit)
        with _Sandbox(self, "close"):
            self._close_line(force=True)
        for each in self._optimizers:
            each.detach()
        self._activations.detach()
        if self._env is not None:
            self._env.detach()
        state = "finished" if error is None else "interrupted" if isinstance(error, KeyboardInterrupt) else "crashed"
        crash = None if error is None else f"{type(error).__name__}: {error}"
        self._record.close(
            state=state, error=crash, updates=self.age, env_steps=self._env_steps, broken=dict(self._record.broken)
        )
        self._closed = self._diagnose()
        for finding in self._closed.findings:
            if finding.code not in self._reported:
                self._record.append_finding(finding)
        if not self._quiet:
            from rldebug.render.terminal import print_report

            print_report(self._closed, run_folder=self.path)
        return self._closed

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(error)

    # ── lines: one per recorded update ──────────────────────────────────────────────────────────────────────────────

    def _saw_update(self, given: dict[str, Any], frame: FrameType) -> None:
        self._step_only = False
        self._close_line()
        if self._steps_first is None:
            self._steps_first = bool(self._stepped)
        first = self._since_rollout == 0
        rows = self._rows_of(given)
        self._rows = rows or self._rows
        self._rows_total += rows or 0
        schedule = self._record.schedule
        if schedule.due(self.age, first):
            self._collect_update(given, frame, schedule.due_detail(self.age))
            schedule.took(self.age, first)
            self._open = True
        self.age += 1
        if self._since_rollout is not None:
            self._since_rollout += 1
        if self._open and (self._steps_first or not self._optimizers):
            self._flush()
        self._stepped.clear()
        if not self._open:
            self._taken.clear()
            self._activations_if_due()

    def _collect_update(self, given: dict[str, Any], frame: FrameType, detail: bool) -> None:
        record = self._record
        self._note_call("update", frame)
        self._note_graphs("update", given, _UPDATE_DATA)
        losses = losses_of("dbg.update(...)", given.get("loss"))
        if detail:
            self._details += 1
            self._note_structure(given, losses)
            if self._details % _NOISE_EVERY == 1:
                for each in self._optimizers:
                    each.start_window()
        bounds = self._env.action_bounds() if self._env else None
        context: dict[str, Any] = {"age": self.age, "since_rollout": self._since_rollout}
        if bounds is not None and given.get("dist") is not None:
            context["action_low"], context["action_high"] = (torch.from_numpy(each.copy()) for each in bounds)
        if self._since_rollout is not None and self._rollout_logp is not None and detail:
            context["rollout_logp"] = self._rollout_logp.reshape(-1)
        update = update_of("dbg.update(...)", given, **context)
        for name, loss in update.loss.items():
            record.number(f"loss/{name}", loss)
        record.measure(update, detail=detail)
        if detail:
            seen = self._activations.take()
            if seen is not None:
                record.measure(seen, detail=True)
        online, target = self._modules.get("critic") or self._modules.get("policy"), self._modules.get("target")
        if online is not None and target is not None:
            networks = ([each.detach() for each in network.parameters()] for network in (online, target))
            pair = Pair(*networks)
            if [each.shape for each in pair.online] == [each.shape for each in pair.target]:
                record.measure(pair)

    def _close_line(self, force: bool = False) -> None:
        if self._open or (force and self._record.pending):
            self._flush()

    def _flush(self) -> None:
        """Everything collected becomes one line. Numbers of the environment and the clock are added last."""
        record = self._record
        self._open = False
        self._taken.clear()
        if self._env is not None:
            episodes = self._env.take()
            if episodes is not None:
                record.measure(episodes)
            for name, number in self._env.take_numbers().items():
                record.number(name, number)
            if self._env.stepped_after_end or self._details <= 1:
                record.facts["env"] = self._env.facts()
        for name, value in self._user.items():
            record.number(name, value)
        self._user = {}
        for each in self._optimizers:
            zeroed = each.zeroed()
            if zeroed is not None:
                record.facts["zeroing"] = {each.name: zeroed}
        now = time.monotonic()
        then, env_steps, updates, rows = self._pace
        if now > then and self.age > updates:
            record.measure(Pace(now - then, self._env_steps - env_steps, self.age - updates, self._rows_total - rows))
        self._pace = (now, self._env_steps, self.age, self._rows_total)
        if now - self._device_read > 1.0:
            self._device_read = now
            record.measure(read_device())
        record.flush(max(self._index - 1, 0), self._env_steps)
        self._activations_if_due()
        self._look_live(now)

    @property
    def _index(self) -> int:
        """What the next line is numbered by: learner steps, or rollouts where there are no learner steps."""
        return self.age if self.age or self._optimizers else self._rollouts

    @property
    def _env_steps(self) -> int:
        return self._env.steps if self._env is not None else self._counted_env_steps

    # ── what the hooks see ──────────────────────────────────────────────────────────────────────────────────────────

    def _wants_step(self, optimizer: OptimizerWatch) -> bool:
        if optimizer.name in self._taken:
            return False
        if self._open:
            return True
        if self._steps_first is False and not self._step_only:
            return False
        return self._record.schedule.due(self.age, self._since_rollout == 0)

    def _saw_step(self, optimizer: OptimizerWatch, step: Step) -> None:
        suffix = f"@{optimizer.name}" if len(self._optimizers) > 1 else ""
        index = self.age - 1 if self._open else self.age
        detail = self._record.schedule.due_detail(index) or "parameters" in self._record.facts
        self._taken.add(optimizer.name)
        self._record.measure(step, detail=detail, suffix=suffix)
        if detail:
            missing = [name for name, grad in zip(step.names, step.grads, strict=True) if grad is None]
            facts = self._record.facts.setdefault("gradients", {})
            facts[optimizer.name] = {"missing": missing[:16], "missing_count": len(missing), "of": len(step.names)}

    def _saw_any_step(self, optimizer: OptimizerWatch) -> None:
        if optimizer.name in self._stepped and self.age == 0 and not self._open:
            self._step_only = True  # two steps and no update() in between: this loop has no other clock
        self._stepped.add(optimizer.name)
        if self._step_only and optimizer is self._optimizers[0]:
            due = bool(self._taken)
            if due:
                if self._record.schedule.due_detail(self.age):
                    self._details += 1
                    self._note_structure({}, {})
                    if self._details % _NOISE_EVERY == 1:
                        optimizer.start_window()
                self._record.schedule.took(self.age, self._since_rollout == 0)
            self.age += 1
            if due:
                self._flush()

    def _saw_window(self, optimizer: OptimizerWatch, window: GradientWindow) -> None:
        suffix = f"@{optimizer.name}" if len(self._optimizers) > 1 else ""
        self._record.measure(window, suffix=suffix)

    def _saw_env_step(self) -> None:
        if self._open and self._stepped:
            self._flush()

    def _failed(self, what: str) -> None:
        self._record.broken[what] = traceback.format_exc()

    def _activations_if_due(self) -> None:
        """Hooks for the next training forward pass, if its update will be recorded in detail."""
        schedule = self._record.schedule
        if self._modules and schedule.due_detail(self.age) and schedule.due(self.age, self._since_rollout == 0):
            self._activations.attach()

    # ── facts ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _note_call(self, call: str, frame: FrameType) -> None:
        place = [frame.f_code.co_filename, frame.f_lineno]
        if self._calls.get(call) != place:
            self._calls[call] = place
            self._record.facts["calls"] = dict(self._calls)

    def _note_graphs(self, call: str, given: Mapping[str, Any], data: tuple[str, ...]) -> None:
        attached = [name for name in data if isinstance(given.get(name), Tensor) and given[name].requires_grad]
        if self._graphs.get(call) != attached:
            self._graphs[call] = attached
            self._record.facts["graphs"] = dict(self._graphs)

    def _note_structure(self, given: Mapping[str, Any], losses: Mapping[str, Tensor]) -> None:
        facts = self._record.facts
        if self._optimizers and self._modules:
            owned = {each.name: each.parameters() for each in self._optimizers}
            facts["parameters"] = audit_parameters(self._modules, owned, self._names)
        reach = reach_of_losses(losses, self._modules, self._names)
        if reach:
            facts["reach"] = reach
        shapes = shapes_of(given)
        if shapes:
            facts["shapes"] = shapes

    # ── looking, traps, checks ──────────────────────────────────────────────────────────────────────────────────────

    def _diagnose(self) -> Report:
        if self._record.stopped is not None and not (self.path / "run.json").exists():
            run = Run.of([], problems=(self._record.stopped,))
        else:
            run = read_run(self.path)
        return diagnose([run], config=read_config(), command="watch", title=self.path.name, broken=self._record.broken)

    def _look_live(self, now: float) -> None:
        """Diagnose while the run goes on, within a share of the wall clock; say at once what is certainly wrong."""
        if now < self._live_next or self._record.stopped is not None:
            return
        report = self._diagnose()
        for finding in report.findings:
            if finding.code not in self._reported:
                self._reported.add(finding.code)
                self._record.append_finding(finding)
                if finding.severity == "error" and not finding.follows and not self._quiet:
                    print(f"rldebug: error[{finding.code}] {finding.message} ({finding.where})", file=sys.stderr)
        self._live_spent += time.monotonic() - now
        self._live_next = self._started + max(2.0 * (now - self._started), self._live_spent / _LIVE_SHARE)

    def _spring_traps(self, frame: FrameType) -> None:
        reading = self._record.last
        if not self._traps or reading is None or reading is self._examined:
            return
        self._examined = reading
        for trap, action in self._traps:
            try:
                finding = sprung(trap, reading)
            except Exception:
                self._failed(f"trap {trap}")
                continue
            if finding is not None:
                act(action, finding, reading, self._record, self._tensors(), frame)

    def _tensors(self) -> dict[str, Tensor]:
        """Weights and gradients by name."""
        tensors: dict[str, Tensor] = {}
        for module in self._modules.values():
            for each in module.parameters():
                tensors[self._names[id(each)]] = each
                if each.grad is not None:
                    tensors[f"{self._names[id(each)]}.grad"] = each.grad
        return tensors

    def _check(self, call: str, build: Callable[..., Any], given: dict[str, Any]) -> None:
        """Check shapes, dtypes and devices once per combination; after that the call costs a look-up."""
        key = (call, signature(given))
        if key not in self._checked:
            build(call, given)
            if len(self._checked) > 1000:
                self._checked.clear()  # episodes of ever new lengths
            self._checked.add(key)

    def _rows_of(self, given: Mapping[str, Any]) -> int | None:
        for name in ("advantage", "target", "value", "logp_new", "logp_old"):
            if given.get(name) is not None:
                return _size(given[name])
        return None


class _Sandbox:
    """What goes wrong inside rldebug is listed as broken; the training goes on."""

    def __init__(self, watch: Watch, what: str) -> None:
        self.watch, self.what = watch, what

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, Exception):
            self.watch._failed(f"watch.{self.what}")
            return True
        return False


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in arguments.items() if name != "self" and each is not None}


def _size(given: Any) -> int:
    return given.numel() if isinstance(given, Tensor) else getattr(given, "size", None) or len(given)


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
