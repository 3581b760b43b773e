"""Collector: what the loop hands over and what the hooks see become one line per recorded update."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import get_ident
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.optim import Optimizer

from rldebug.capture.device import read_device
from rldebug.capture.gymnasium import EnvWatch
from rldebug.capture.loss_graph import carried
from rldebug.capture.modules import ActivationWatch, compiled
from rldebug.capture.optimizers import OptimizerWatch, adam_moments
from rldebug.capture.order import Place, comes_before, place_of
from rldebug.capture.structure import audit_parameters, reach_of_losses, shapes_of
from rldebug.handover import losses_of, rollout_of, transitions_of, update_of
from rldebug.record import Recorder
from rldebug.rollout import GradientWindow, Pace, Pair, Step

_UPDATE_DATA = ("logp_old", "target", "advantage", "collected_at")  # of an update: data, which may not carry a graph
_NOISE_EVERY = 8  # detailed readings between two noise-scale windows
_ENV_ONLY = 1024  # env steps that count as a rollout where an environment is all there is to watch


class Collector:
    """Holds the hooks, and knows which update is under way.

    A line belongs to one `dbg.update(...)`. The step of an optimizer may come before that call or after it: which of
    the two is read off the user's code, once, and a line whose step is still to come stays open until the next event.
    """

    def __init__(
        self, modules: Mapping[str, nn.Module], optimizers: Mapping[str, Optimizer], env: Any, info: Sequence[str]
    ) -> None:
        self.broken: dict[str, str] = {}
        self.modules = modules
        self.names: dict[int, str] = {}
        self._name_parameters()
        self.age = 0  # learner steps so far
        self.since_rollout: int | None = None
        self.open = False  # a recorded update waits for its optimizer step
        self.looked_at: Callable[[], bool] | None = None  # whether updates are recorded now, whatever the clock says
        self.on_close_look: Callable[[], None] | None = None  # called before a line with costly metrics is written
        self.on_line: Callable[[], None] | None = None  # called when a line is written from within optimizer.step()
        self.user: dict[str, Any] = {}  # numbers of the user's own, for the next line
        self._rollouts = 0
        self._rollout_logp: Tensor | None = None
        self._rollout_detail = 0  # update from which on a rollout is looked at in detail
        self._counted_env_steps = 0  # from rollouts, where no environment is watched
        self._rows: int | None = None
        self._rows_total = 0
        self._detailed = False  # the line being collected is a detailed one
        self._keep = True  # it is also to be written, not only looked at
        self._details = 0
        self._kinds: dict[tuple[str, ...], int] = {}  # recorded updates by the arguments they came with
        self._early: set[str] = set()  # optimizers that step before update() is called
        self._placed: set[str] = set()  # optimizers of which that is known
        self._update_place: Place | None = None
        self._step_places: dict[str, Place] = {}
        self._stepping = False  # inside optimizer.step(closure), an update() may be called
        self._thread = 0  # in which the updates are
        self._stepped: set[str] = set()  # optimizers that stepped since the last update()
        self._taken: set[str] = set()  # optimizers whose step is in the line being collected
        self._step_only = False  # update() is never called: optimizer steps are the updates
        self._calls: dict[str, list[Any]] = {}
        self._graphs: dict[str, list[str]] = {}
        self._pace = (time.monotonic(), 0, 0, 0)  # at the last reading: clock, env steps, updates, rows
        self._device_read = 0.0
        self._env_only = not optimizers and not modules  # until something is handed over
        self._env_only_next = _ENV_ONLY

        self.env = None if env is None else EnvWatch(env, self.failed, self._saw_env_step, info)
        self.optimizers = [
            OptimizerWatch(
                optimizer=each,
                name=key,
                named=self.names,
                wanted=self._wants_step,
                on_any_step=self._saw_any_step,
                on_step=self._saw_step,
                on_window=self._saw_window,
                rows=lambda: self._rows,
                failed=self.failed,
                on_done=self._step_done,
            )
            for key, each in optimizers.items()
        ]
        self._activations = ActivationWatch(modules, self.failed)

    def start(self, record: Recorder) -> None:
        self.record = record
        self.broken = record.broken
        if self.env is not None:
            self.env.attach()
        for each in self.optimizers:
            each.attach()
        self._activations_if_due()

    def stop(self) -> None:
        """Write what is pending, and take every hook away."""
        try:
            if self.open:
                self._flush()
            elif self.record.pending or (self._env_only and self.env is not None and self.env.counted):
                self._flush(self._index)  # of an update that was under way
        finally:
            for each in self.optimizers:
                each.detach()
            self._activations.detach()
            if self.env is not None:
                self.env.detach()

    def describe(self) -> dict[str, Any]:
        """For run.json."""
        return {
            "modules": {
                key: sum(each.numel() for each in module.parameters() if not is_lazy(each))
                for key, module in self.modules.items()
            },
            "optimizers": {each.name: type(each.optimizer).__name__ for each in self.optimizers},
            "compiled": [key for key, module in self.modules.items() if compiled(module)],
            "env": self.env.facts() if self.env else None,
        }

    @property
    def env_steps(self) -> int:
        return self.env.steps if self.env is not None else self._counted_env_steps

    def due(self) -> bool:
        """Whether the update under way is recorded."""
        return self.record.schedule.due(self.age, self.since_rollout == 0)

    def tensors(self) -> dict[str, Tensor]:
        """Weights and gradients by name, for a snapshot."""
        found: dict[str, Tensor] = {}
        self._name_parameters()
        for module in self.modules.values():
            for each in module.parameters():
                found[self.names[id(each)]] = each
                if each.grad is not None:
                    found[f"{self.names[id(each)]}.grad"] = each.grad
        return found

    def failed(self, what: str) -> None:
        """Called where an exception was caught: what failed is switched off, and listed with its traceback."""
        self.broken[what] = traceback.format_exc()

    # ── what the user hands over ────────────────────────────────────────────────────────────────────────────────────

    def saw_rollout(self, given: dict[str, Any], rows: int, frame: FrameType) -> None:
        self.close_line()
        self._env_only = False
        self._rollouts += 1
        self.since_rollout = 0
        self._counted_env_steps += rows
        self._rollout_logp = None
        if self.record.schedule.due(self._index, True):
            # A clock of its own: updates would take every turn, and the newest value trace would be an old one.
            detail = self._index >= self._rollout_detail
            if detail:
                self._rollout_detail = self._index + self.record.schedule.detail_gap(self._index)
            self._note_call("rollout", frame)
            self._note_graphs("rollout", given, tuple(given))
            rollout = rollout_of("dbg.rollout(...)", given)
            self._rollout_logp = rollout.logp
            self.record.measure(rollout, detail=detail)
            if not self.age and not self.optimizers:
                self._keep = self.record.schedule.took(self._index, True)
                self._flush()

    def saw_replay(self, given: dict[str, Any], frame: FrameType) -> None:
        self.close_line()
        if self.record.schedule.due(self._index, False):
            self._note_call("replay", frame)
            self._note_graphs("replay", given, tuple(given))
            detail = self.record.schedule.due_detail(self._index)
            self.record.measure(transitions_of("dbg.replay(...)", given), detail=detail)

    def saw_update(self, given: dict[str, Any], rows: int, frame: FrameType) -> None:
        self.close_line()
        if len(self._placed) < len(self.optimizers):
            self._place_update(frame)
        if not self.age and not self.optimizers and self._rollouts:
            self.record.schedule.restart()  # rollouts were the clock so far
        self._env_only = False
        self._thread = get_ident()
        self._rows = rows or self._rows
        due = self.due()
        try:
            if due:
                self._detailed = self.record.schedule.due_detail(self.age)
                self._collect_update(given, frame, self._detailed)
        finally:
            if due:
                self._keep = self.record.schedule.took(self.age, self.since_rollout == 0)
                self.open = True
            self.count_update(rows)
        if (
            self.open
            and not self._stepping
            and all(each.name in self._early or each.name in self._taken for each in self.optimizers)
        ):
            self._flush()

    def count_update(self, rows: int | None = None) -> None:
        self._step_only = False
        self._rows_total += (self._rows or 0) if rows is None else rows
        self.age += 1
        if self.since_rollout is not None:
            self.since_rollout += 1
        self._stepped.clear()
        if not self.open:
            self._taken.clear()
        self._activations_if_due()

    def _collect_update(self, given: dict[str, Any], frame: FrameType, detail: bool) -> None:
        record = self.record
        self._note_call("update", frame)
        self._note_graphs("update", given, _UPDATE_DATA)
        batch, network, code = _shift(detail, self._details)
        if self._is_new_kind(given):
            batch = code = True
            if not detail:
                self._note_structure(given)
        if detail:
            self._begin_detail(given, code)
        bounds = self.env.action_bounds() if self.env else None
        context: dict[str, Any] = {"age": self.age, "since_rollout": self.since_rollout}
        if bounds is not None and given.get("dist") is not None:
            context["action_low"], context["action_high"] = (torch.from_numpy(each.copy()) for each in bounds)
        if self._rollout_logp is not None and detail:
            context["rollout_logp"] = self._rollout_logp.reshape(-1)
        update = update_of("dbg.update(...)", given, **context)
        for name, loss in update.loss.items():
            record.number(f"loss/{name}", loss)
        record.measure(update, detail=batch, code=code)
        self._measure_activations(network)
        online, target = self.modules.get("critic") or self.modules.get("policy"), self.modules.get("target")
        if online is not None and target is not None:
            networks = ([each.detach() for each in network.parameters()] for network in (online, target))
            pair = Pair(*networks)
            if [each.shape for each in pair.online] == [each.shape for each in pair.target]:
                record.measure(pair)

    def _is_new_kind(self, given: Mapping[str, Any]) -> bool:
        """Whether few updates with these arguments were looked at closely: loops alternate policy and value updates."""
        losses = given.get("loss")
        kind = (*given, *(losses if isinstance(losses, Mapping) else ()))
        self._kinds[kind] = self._kinds.get(kind, 0) + 1
        return self._kinds[kind] <= 8

    def _measure_activations(self, detail: bool) -> None:
        layers = self._due_layers()
        seen = self._activations.take() if detail or layers else None
        if seen is not None:
            self.record.measure(seen, detail=detail, layers=layers)

    def _due_layers(self) -> bool:
        """Whether each layer is looked at by itself, for the line under way. Not in one that is only looked at."""
        schedule = self.record.schedule
        keep = self._keep if self.open else schedule.keeps(self.age, self.since_rollout == 0)
        return keep and schedule.due_layers(self.age - self.open)

    def _begin_detail(self, given: Mapping[str, Any], code: bool) -> None:
        self._details += 1
        if code:
            self._note_structure(given)
        if self._details % _NOISE_EVERY == 1:
            for each in self.optimizers:
                each.start_window()

    # ── lines ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def close_line(self) -> None:
        if self.open:
            self._flush()

    def _flush(self, update: int | None = None) -> None:
        """Everything collected becomes one line. Numbers of the environment and the clock are added last."""
        record = self.record
        self.open = False
        self._taken.clear()
        for name, value in self.user.items():
            record.number(name, value)
        keep, self._keep = self._keep, True
        if keep:
            self.user = {}
            self._add_counts()
        record.flush(max(self._index - 1, 0) if update is None else update, self.env_steps, keep)
        self._activations_if_due()

    def _add_counts(self) -> None:
        """What is counted from one line to the next."""
        record = self.record
        now = self._count()
        if self.env is not None:
            for name, number in self.env.take_numbers().items():
                record.number(name, number)
            if self.env.stepped_after_end or self._details <= 1:
                record.facts["env"] = self.env.facts()
        for each in self.optimizers:
            zeroed = each.zeroed()
            if zeroed is not None:
                record.facts.setdefault("zeroing", {})[each.name] = zeroed
        if self.on_close_look is not None and (self._detailed or record.schedule.due_layers(self.age - 1)):
            self.on_close_look()
        if now - self._device_read > 1.0:
            self._device_read = now
            record.measure(read_device())

    def _count(self) -> float:
        """Episodes and pace since the last line; gives the time of this one."""
        episodes = self.env.take() if self.env is not None else None
        if episodes is not None:
            self.record.measure(episodes)
        now = time.monotonic()
        then, env_steps, updates, rows = self._pace
        if now > then and self.age > updates:
            env_steps = self.env_steps - env_steps
            self.record.measure(Pace(now - then, env_steps, self.age - updates, self._rows_total - rows))
        self._pace = (now, self.env_steps, self.age, self._rows_total)
        return now

    @property
    def counted_at(self) -> float:
        """When the last line was written, by time.monotonic()."""
        return self._pace[0]

    @property
    def counted_all(self) -> bool:
        """Whether nothing has happened since the last line."""
        return self._pace[1:3] == (self.env_steps, self.age)

    def write_counts(self, update: int) -> None:
        """A line of what is counted, and of nothing that has to be computed. What is pending waits for the next."""
        if self.record.last is None or update > self.record.last.update:
            with self.record.apart():
                self._count()
                self.record.flush(update, self.env_steps)

    @property
    def _index(self) -> int:
        """What the next line is numbered by: learner steps, or rollouts where there are no learner steps."""
        return self.age if self.age or self.optimizers else self._rollouts

    # ── what the hooks see ──────────────────────────────────────────────────────────────────────────────────────────

    def _wants_step(self, optimizer: OptimizerWatch) -> bool:
        name = optimizer.name
        if name not in self._placed and not self._step_only:
            self._place_step(name)
        if name in self._stepped and (self._step_only or not self.age):
            self._end_round()
        self._stepping = True
        if self._step_only:
            wanted = self.open or (not self._stepped and self.due())
        elif name in self._early:
            self.close_line()
            wanted = self.due()
        elif self.open:
            wanted = True
        else:  # of an update that is not recorded, unless another optimizer has begun the next one, or it is the first
            wanted = (not self.age or not self._stepped.isdisjoint(self._early)) and self.due()
        return wanted and name not in self._taken

    def _place_step(self, name: str) -> None:
        place = place_of(sys._getframe(1))
        self._step_places[name] = place
        if self._update_place is not None:
            self._placed.add(name)
            if comes_before(place, self._update_place):
                self._early.add(name)

    def _place_update(self, frame: FrameType) -> None:
        self._update_place = place_of(frame)
        if self._step_only:
            return  # steps so far had nothing to do with updates: the next ones will show
        for name in self._stepped - self._placed:
            self._placed.add(name)
            if comes_before(self._step_places[name], self._update_place) is False:
                self._taken.discard(name)  # a step taken before the loop began
            else:
                self._early.add(name)

    def _saw_step(self, optimizer: OptimizerWatch, step: Step) -> None:
        if self.open:
            _, detail, _ = _shift(self._detailed, self._details - self._detailed)
        else:
            _, detail, _ = _shift(self.record.schedule.due_detail(self.age), self._details)
        self._taken.add(optimizer.name)
        came_back = self._activations.take_gradients()
        if came_back is not None:
            self.record.measure(came_back, detail=detail, suffix=self._suffix(optimizer))
        if detail:
            step = replace(step, moments=adam_moments(optimizer.optimizer, optimizer.parameters()))
        self.record.measure(step, detail=detail, layers=self._due_layers(), suffix=self._suffix(optimizer))
        if detail:
            missing = [name for name, grad in zip(step.names, step.grads, strict=True) if grad is None]
            facts = self.record.facts.setdefault("gradients", {})
            facts[optimizer.name] = {"missing": missing[:16], "missing_count": len(missing), "of": len(step.names)}

    def _saw_any_step(self, optimizer: OptimizerWatch) -> None:
        self._stepping = False
        if self._step_only and not self._stepped:
            self._count_step()
        self._stepped.add(optimizer.name)

    def _end_round(self) -> None:
        """An optimizer steps again, and there was no update() in between: the steps themselves are the updates."""
        if not self._step_only:
            self._step_only = True
            self._count_step()
        self.close_line()
        self._stepped.clear()

    def _count_step(self) -> None:
        self._thread = get_ident()
        if self._taken:
            self._detailed = self.record.schedule.due_detail(self.age)
            _, network, _ = _shift(self._detailed, self._details)
            if self._detailed:
                self._begin_detail({}, code=True)
            self._measure_activations(network)
            self._keep = self.record.schedule.took(self.age, self.since_rollout == 0)
            self.open = True
        self.age += 1
        if self.since_rollout is not None:
            self.since_rollout += 1
        self._activations_if_due()  # here, because its line is closed when the next forward pass is over

    def _step_done(self) -> None:
        """Where somebody waits for lines, one is closed as soon as its last step is done: a trap looks at it there."""
        if self.on_line is None or not self.open:
            return
        if all(each.name in self._early or each.name in self._taken for each in self.optimizers):
            try:
                self._flush()
            except Exception:
                self.failed("line after a step")
            self.on_line()

    def _saw_window(self, optimizer: OptimizerWatch, window: GradientWindow) -> None:
        self.record.measure(window, suffix=self._suffix(optimizer))

    def _suffix(self, optimizer: OptimizerWatch) -> str:
        return f"@{optimizer.name}" if len(self.optimizers) > 1 else ""

    def _saw_env_step(self) -> None:
        if self.open and self._stepped:
            if get_ident() == self._thread:  # an actor in a thread of its own does not know where an update ends
                self._flush()
        elif self._env_only and self.env is not None and self.env.steps >= self._env_only_next:
            self._env_only_next = self.env.steps + _ENV_ONLY
            self._rollouts += 1
            if self.record.schedule.due(self._index, False):
                self._keep = self.record.schedule.took(self._index, False)
                self._flush()

    def _activations_if_due(self) -> None:
        """Hooks for the next training forward pass, if its update will be recorded in detail."""
        schedule, age = self.record.schedule, self.age
        detail, layers = schedule.due_detail(age), schedule.due_layers(age)
        if not (detail or layers) or not self.modules:
            return
        soon = self.due() or (self.looked_at is not None and self.looked_at())
        if soon and (layers or _shift(detail, self._details)[1]):
            self._activations.attach()

    # ── facts ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _note_call(self, call: str, frame: FrameType) -> None:
        place = [frame.f_code.co_filename, frame.f_lineno]
        if self._calls.get(call) != place:
            self._calls[call] = place
            self.record.facts["calls"] = dict(self._calls)

    def _note_graphs(self, call: str, given: Mapping[str, Any], data: tuple[str, ...]) -> None:
        attached = [name for name in data if isinstance(given.get(name), Tensor) and given[name].requires_grad]
        if self._graphs.get(call) != attached:
            self._graphs[call] = attached
            self.record.facts["graphs"] = dict(self._graphs)

    def _name_parameters(self) -> None:
        for key, module in reversed(list(self.modules.items())):  # a shared parameter is called after the first module
            for path, each in module.named_parameters():
                self.names[id(each)] = f"{key}.{path}"

    def _note_structure(self, given: Mapping[str, Any]) -> None:
        facts = self.record.facts
        self._name_parameters()  # some may be new
        if self.optimizers and self.modules:
            owned = {each.name: each.parameters() for each in self.optimizers}
            facts["parameters"] = audit_parameters(self.modules, owned, self.names)
        handed = given.get("loss")
        if isinstance(handed, Mapping):  # plain numbers have no graph to look at
            handed = {name: each for name, each in handed.items() if isinstance(each, Tensor)}
        losses = losses_of("dbg.update(...)", handed)
        reach = reach_of_losses(losses, self.modules, self.names)
        if reach:
            facts["reach"] = reach
        shapes = shapes_of(given)
        if shapes:
            facts["shapes"] = shapes
        attached = {name: given[name] for name in self._graphs.get("update", ()) if name in given}
        if attached:
            facts["carried"] = {name: carried(loss, attached) for name, loss in losses.items() if loss.requires_grad}
        if any(each.requires_grad for each in losses.values()):
            facts["detached"] = [name for name, each in losses.items() if not each.requires_grad]


def _shift(detail: bool, number: int) -> tuple[bool, bool, bool]:
    """Which costly looks the detailed reading of this number takes: at the batch, the network, how the code computes.

    All of them at first; later batch and network take turns, and the code, which does not change, comes rarely.
    """
    early = number < 8
    return (
        detail and (early or number % 2 == 0),
        detail and (early or number % 2 == 1),
        detail and (early or number % 8 == 0),
    )
