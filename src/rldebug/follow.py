"""Follower: fills a Run from what a Session sees, as `rldebug.watch` does from what a loop hands over.
 Optimizers are watched as soon as they step; environments by the log of the session; and where a loss was taken
apart, its parts become the values, targets, advantages and log-probs that `dbg.update(...)` would have been given.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.optim import Optimizer

from rldebug.capture.env_log import EnvLog
from rldebug.capture.env_stream import Stream
from rldebug.capture.optimizers import OptimizerWatch
from rldebug.capture.session import Session
from rldebug.collect import Collector
from rldebug.evidence.script import Event
from rldebug.handover import HandoverError, update_of
from rldebug.metrics.histogram import histogram
from rldebug.record import Recorder, Schedule, run_meta
from rldebug.rollout import Episodes, Step

_NETWORKS = 6  # that are looked into, layer by layer
_ALL_OF = 3  # audits, of which every loss that was taken apart is handed over
_OF_AN_AUDIT = 4  # of a later one
_GRACE = 0.2  # seconds that readings may take in any case
_SHARE = 0.2  # of the budget that they may take beyond that
_COUNTED = 1.0  # seconds after a line, at least, until there is one of what is counted alone
_GROWN = 256  # and this part of the time so far: a week has some 2,200 of them
_TOLD = 10.0  # seconds from one run.json to the next
_SCHEDULE = (256, 128, False, 12)  # fewer readings than of a watched loop: most is in the audits


class Follower:
    def __init__(self, session: Session, folder: Path, **meta: Any) -> None:
        self.session = session
        self.collector = Collector({}, {}, None, ())
        self.collector._env_only = False
        self.record = Recorder(
            folder, run_meta(name=folder.name, **self.collector.describe(), **meta), Schedule(*_SCHEDULE)
        )
        self.collector.env = Streams(session.log)  # type: ignore[assignment]
        self.collector.start(self.record)
        self._spent = 0.0
        self._began = time.monotonic()
        self._count_at = self._began + _COUNTED
        self._told = -math.inf  # when run.json was written
        self._told_of = 0  # networks
        self._audit, self._handed = -1, 0
        self._terms: list[Event] = []
        self._phase = -1
        self._line: Sequence[Any] | None = None  # of the last loss: where it is run backward
        self._called = False  # where in the program the losses are was told
        self._named = 0  # networks that there were when parameters were last given names
        self._begun = -1  # audits before the last one of which something was seen
        self.collector.on_close_look = self._add_rewards
        self.collector.looked_at = lambda: session.audit is not None
        session.follower = self
        session.registry.on_optimizer.append(self._saw_optimizer)
        session.on_event.append(self._saw_event)
        session.on_audit.append(lambda audit: self._saw_networks())
        session.on_audit.append(lambda audit: self._tell_early())

    def close(self, *, state: str, error: str | None = None, **more: Any) -> None:
        """Write what is pending, and how the program ended."""
        collector = self.collector
        try:
            collector.stop()
            if collector.age and not collector.counted_all:
                last = self.record.last
                collector.write_counts(max(collector.age - 1, 0 if last is None else last.update + 1))
        except Exception:
            collector.failed("close")
        self.record.close(
            state=state,
            error=error,
            **self._known(),
            broken={**self.record.broken, **self.session.switch.broken},
            steps={each.name: each.steps for each in collector.optimizers},
            warnings=[each.to_dict() for each in self.session.warned],
            **more,
        )

    def _known(self) -> dict[str, Any]:
        """For run.json: what nobody knew when the program began."""
        collector = self.collector
        return {
            "updates": collector.age,
            "env_steps": self.session.log.steps,
            "optimizers": {each.name: type(each.optimizer).__name__ for each in collector.optimizers},
            "modules": self.roles(),
            "env": collector.env.facts() if collector.env is not None else None,
            "seed": torch.initial_seed(),  # the program has set it since
        }

    def roles(self) -> dict[str, int]:
        modules = self.collector.modules.items()
        return {key: sum(each.numel() for each in net.parameters() if not is_lazy(each)) for key, net in modules}

    def handed_over(self, call: str, given: dict[str, Any], frame: FrameType) -> None:
        """What a library's buffer holds: measured as `rldebug.watch` measures it, where readings have the time."""
        if not self._affordable():
            return
        start = time.thread_time()
        if "rollout" in call:
            rows = math.prod(np.shape(given["reward"])) if "reward" in given else 0
            self.collector.saw_rollout(given, rows, frame)
        else:
            self.collector.saw_replay(given, frame)
        self._took(start)

    # ── what the session tells ──────────────────────────────────────────────────────────────────────────────────────

    def _saw_optimizer(self, name: str, optimizer: Optimizer) -> None:
        collector = self.collector
        watch = OptimizerWatch(
            optimizer=optimizer,
            name=name,
            named=collector.names,
            wanted=self._wants_step,
            on_any_step=collector._saw_any_step,
            on_step=self._saw_step,
            on_window=collector._saw_window,
            rows=lambda: collector._rows,
            failed=collector.failed,
            on_done=collector._step_done,
        )
        collector.optimizers.append(watch)
        watch.attach()

    def _saw_event(self, event: Event) -> None:
        if self.session.audits != self._begun:
            self._begun = self.session.audits
            self.collector._activations_if_due()
        if event.kind == "term":
            self._terms.append(event)
        elif event.kind == "loss":
            self._line = event.get("line")
            if len(self._terms) > 64:
                self._terms.clear()

    def _saw_networks(self) -> None:
        """Those that learn, once they are known: their layers are looked at from then on. Some learn late."""
        if not self.collector.due():
            self.collector._activations.drop()
        if self.collector.modules and self.session.audits >= _ALL_OF:
            return
        outer = self._learning()
        if not outer.keys() <= self.collector.modules.keys():
            self.collector.modules = dict(list(outer.items())[:_NETWORKS])
            self.collector._activations.modules = self.collector.modules
            self.collector._name_parameters()
            self.collector._activations_if_due()

    def _name_early(self) -> None:
        """Until then parameters are called after the networks that were called so far."""
        if not self.collector.modules and len(self.session.registry.modules) != self._named:
            self._named = len(self.session.registry.modules)
            for name, module in self._learning().items():
                for path, each in module.named_parameters():
                    self.collector.names[id(each)] = f"{name}.{path}"

    def _learning(self) -> dict[str, nn.Module]:
        """Networks that an optimizer owns something of, and that are within no other."""
        optimized = {
            id(each) for watch in self.collector.optimizers for each in watch.parameters()
        }  # a network that no optimizer owns does not learn
        found = {
            name: module
            for name, module in self.session.registry.living()
            if any(id(each) in optimized for each in module.parameters())
        }
        return {
            name: module
            for name, module in found.items()
            if not any(module is not other and module in set(other.modules()) for other in found.values())
        }

    def _add_rewards(self) -> None:
        try:
            rewards = self.collector.env.rewards() if isinstance(self.collector.env, Streams) else None
            if rewards is not None:
                self.record.histogram("histogram/reward", histogram(torch.from_numpy(rewards)))
        except Exception:
            self.collector.on_close_look = None
            self.collector.failed("histogram/reward")

    def _wants_step(self, optimizer: OptimizerWatch) -> bool:
        collector = self.collector
        if time.monotonic() >= self._count_at:
            self._count()
        if not self._terms and not collector.open and not collector.due():
            return collector._wants_step(optimizer)  # nearly always
        if collector.open:
            self.session.log.flush()  # before its line is closed: the hooks owe that in any case
        start = time.thread_time()
        self._name_early()
        terms, self._terms = self._terms, []
        if terms and self._enough_terms():
            terms = []
        if terms:
            collector.record.schedule.call(collector.age)
        elif not self._affordable():
            collector.record.schedule.put_off(collector.age)
            collector._activations.drop()
        wanted = collector._wants_step(optimizer)
        if terms:
            self._hand_over(terms)
        self._took(start)
        return wanted

    def _count(self) -> None:
        """Where readings have no time, episodes and pace are told all the same: they cost next to nothing."""
        collector = self.collector
        self.session.log.flush()
        start, now = time.thread_time(), time.monotonic()
        gap = max(_COUNTED, (now - self._began) / _GROWN)
        self._count_at = collector.counted_at + gap
        try:
            if now >= self._count_at and not collector.open:
                self._count_at = now + gap
                collector.write_counts(max(collector.age - 1, 0))
            if now >= self._told + _TOLD:
                self._tell(now)
        except Exception:
            self._count_at = math.inf
            collector.failed("counts")
        self._took(start)

    def _tell(self, now: float) -> None:
        self._told, self._told_of = now, len(self.collector.modules)
        self.record.tell(**self._known())

    def _tell_early(self) -> None:
        """After the first audit, and after one that has shown networks."""
        if self._told < self._began or len(self.collector.modules) != self._told_of:
            self._tell(time.monotonic())

    def _saw_step(self, optimizer: OptimizerWatch, step: Step) -> None:
        start = time.thread_time()
        self.collector._saw_step(optimizer, step)
        self._took(start)

    def _took(self, start: float) -> None:
        spent = max(time.thread_time() - start, 0.0)
        self._spent += spent
        self.session.took(spent)

    def _affordable(self) -> bool:
        """Readings have a part of the budget to themselves: audits must not use up all of it."""
        return self._spent <= _GRACE + _SHARE * self.session.options.overhead_budget * time.process_time()

    def _enough_terms(self) -> bool:
        """Each loss that was taken apart may be handed over at first; later a few of each audit."""
        if self.session.audits < _ALL_OF:
            return False
        if self.session.audits != self._audit:
            self._audit, self._handed = self.session.audits, 0
        self._handed += 1
        return self._handed > _OF_AN_AUDIT

    def _hand_over(self, terms: list[Event]) -> None:
        """The parts of the loss, as `dbg.update(...)` would be given them."""
        given = handed_over(terms)
        if not given:
            return
        if self._line is not None and not self._called:
            self._called = True
            self.record.facts["calls"] = {"update": list(self._line)}
        first = self.session.phase != self._phase
        self._phase = self.session.phase
        collector = self.collector
        collector.since_rollout = 0 if first else (collector.since_rollout or 0) + 1
        rows = next((len(each) for name, each in given.items() if name != "loss" and isinstance(each, Tensor)), 0)
        collector._rows = rows or collector._rows
        # Not as the update's losses: those are compared with what they should be, and these were computed here.
        for name, loss in given.pop("loss").items():
            self.record.number(f"loss/{name}", loss)
        try:
            update = update_of("the loss", given, age=collector.age, since_rollout=collector.since_rollout)
        except HandoverError:
            return  # its parts have different numbers of rows: several batches in one loss
        self.record.measure(update, detail=True, code=True)


def handed_over(terms: list[Event]) -> dict[str, Any]:
    """Values, targets, advantages and log-probs, from the terms of one loss."""
    given: dict[str, Any] = {}
    losses: dict[str, float] = {}
    # Regressions first: values and targets tell the sign of advantages.
    for term in sorted(terms, key=lambda each: each["kind"] != "regression"):
        kind, arrays = term["kind"], term.arrays
        if kind == "regression" and {"prediction", "target"} <= arrays.keys() and "value" not in given:
            if arrays["prediction"].shape == arrays["target"].shape:
                given["value"], given["target"] = _tensor(arrays["prediction"]), _tensor(arrays["target"])
                error = given["value"] - given["target"]
                losses["value"] = float((error * error).mean())
        elif kind == "policy" and "logp" in arrays and "advantage" not in given and "weight" in arrays:
            logp, weight = _tensor(arrays["logp"]), _tensor(arrays["weight"])
            if logp.shape != weight.shape:
                continue
            given["logp_new"] = logp
            if term["coefficient"] > 0:
                # The minus is not in the graph: it may be in the weight, or missing. That is for who sees the source.
                weight = -weight
                if not _agrees(weight, given.get("value"), given.get("target")):
                    continue
            given["advantage"] = weight
            ratio = arrays.get("ratio")
            if ratio is not None and ratio.shape == arrays["logp"].shape and bool((ratio > 0).all()):
                given["logp_old"] = logp - torch.log(_tensor(ratio))
                clip = term.get("clip")
                if clip and clip[1] is not None and 1 < clip[1] < 3:
                    given["clip"] = float(clip[1]) - 1.0
            losses["policy"] = float(-(weight * logp).mean())
        elif kind == "entropy" and "entropy" in arrays and "entropy" not in given:
            given["entropy"] = _tensor(arrays["entropy"])
    rows = {len(each) for each in given.values() if isinstance(each, Tensor) and each.ndim}
    if len(rows) > 1:
        given.pop("entropy", None)
    return {**given, "loss": losses} if losses else {}


def _agrees(advantage: Tensor, value: Tensor | None, target: Tensor | None) -> bool:
    """Whether its sign is that of what was better or worse than expected."""
    if value is None or target is None or not len(value) == len(target) == len(advantage):
        return True
    return bool((advantage * (target - value)).sum() >= 0)


def _tensor(array: Any) -> Tensor:
    return torch.from_numpy(np.array(array, dtype=np.float32)).reshape(-1)


class Streams:
    """The environment that the program trains in, for the Collector: the one stepped most, and those like it."""

    def __init__(self, log: EnvLog) -> None:
        self.log = log
        self._taken: dict[int, tuple[int, int, int, int, float]] = {}

    def attach(self) -> None:
        pass

    detach = attach

    @property
    def stream(self) -> Stream | None:
        self.log.flush()
        return max(self.log.streams, key=lambda each: each.steps, default=None)

    @property
    def group(self) -> list[Stream]:
        """A list of environments that are stepped in turn is one to train in."""
        main = self.stream
        if main is None:
            return []
        return [each for each in self.log.streams if each.name == main.name and 2 * each.steps >= main.steps]

    @property
    def steps(self) -> int:
        return self.log.steps

    @property
    def counted(self) -> int:
        return self.log.steps

    @property
    def stepped_after_end(self) -> int:
        return self.stream.stepped_after_end if self.stream is not None else 0

    def take(self) -> Episodes | None:
        taken = [each for each in map(self._take, self.group) if each is not None]
        if not taken:
            return None
        return Episodes(
            returns=np.concatenate([each.returns for each in taken]),
            lengths=np.concatenate([each.lengths for each in taken]),
            terminated=sum(each.terminated for each in taken),
            truncated=sum(each.truncated for each in taken),
            reward_sum=sum(each.reward_sum for each in taken),
            steps=sum(each.steps for each in taken),
        )

    def _take(self, stream: Stream) -> Episodes | None:
        now = (stream.finished, stream.terminations, stream.truncations, stream.steps, stream.reward.total)
        before = self._taken.get(stream.index, (0, 0, 0, 0, 0.0))
        self._taken[stream.index] = now
        finished, terminated, truncated, steps, rewards = (a - b for a, b in zip(now, before, strict=True))
        if not steps:
            return None
        kept = stream.episodes[-min(int(finished), len(stream.episodes)) :] if finished else []
        return Episodes(
            returns=np.array([each[0] for each in kept]),
            lengths=np.array([each[1] for each in kept]),
            terminated=int(terminated),
            truncated=int(truncated),
            reward_sum=float(rewards),
            steps=int(steps),
        )

    def rewards(self) -> NDArray[np.float64] | None:
        """The newest."""
        newest = [each.newest for each in self.group if each.newest]
        return np.concatenate([np.array(list(each)) for each in newest]) if newest else None  # others may add to it

    def take_numbers(self) -> dict[str, float]:
        stream = self.stream
        return {} if stream is None or not stream.looked else {"env/obs_nonfinite": stream.nonfinite / stream.looked}

    def facts(self) -> dict[str, Any]:
        stream = self.stream
        if stream is None:
            return {}
        return {
            "id": stream.name,
            "vector": stream.vector or "vec" in stream.kind,
            "autoreset": stream.autoreset,
            "actions": stream.facts.get("action_n"),
            "time_limit": stream.facts.get("time_limit"),
            "registered_limit": stream.facts.get("registered_limit"),
            "stepped_after_end": stream.stepped_after_end,
            "ended_again": 0,
        }

    def action_bounds(self) -> None:
        return None

    def __bool__(self) -> bool:
        return True
