"""Weights that move other than by an optimizer: loaded, copied, averaged into a target network, or stepped by hand.

A copy in place cannot be hooked: it is any arithmetic on tensors, and through `.data` it leaves no trace. So the
weights of the networks are looked at: before each step of an optimizer (nothing but its own step has moved its
networks then since the one before), and when an audit ends. What has moved is compared with the networks of the same
shape.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from rldebug.capture import backward
from rldebug.capture.norms import plain
from rldebug.capture.place import users_line
from rldebug.capture.stand_in import out_of_reach, stand_in
from rldebug.capture.statistics import compared, statistics

GROUP = "copies"
_LOOKS = 8  # steps of optimizers, in one audit, around which the weights are looked at
_BETWEEN = 4  # backward passes, in one audit, that follow another without a step, before which they are looked at, too
_WHOLE = 2_000_000  # parameters of a network that are all looked at; of a larger one the first of each tensor
_PART = 8192
_KEPT = 8_000_000  # numbers that are kept in all
_MODULES = 24
_EXPLAINED = (
    0.2  # of a move may be left over when a source is named: rounding, early on, when the two are all but equal
)
_TIMES = 64
_GLANCE = 256  # updates before weights are first looked at between audits; then whenever there are half as many more
_GLANCES = 24  # that are kept of a network: of more the first and the last

watch: Copies | None = None


def install(session: Any) -> None:
    global watch
    watch = mine = Copies(session)
    switch = session.switch
    for handle in (register_optimizer_step_pre_hook(_before_step), register_optimizer_step_post_hook(_after_step)):
        switch.when_undone(handle.remove)
    switch.replace(GROUP, nn.Module, "load_state_dict", _loading)
    if backward.watch is not None:  # --without backward
        backward.watch.between = mine.before_backward
    switch.when_undone(_forget)
    session.on_audit.append(at_audit_end)
    session.on_finish.append(mine.tell)


def _forget() -> None:
    global watch
    watch = None


def at_audit_end(recording: Any) -> None:
    if watch is not None:
        watch.session.switch.guard(GROUP, watch.at_audit_end, recording)


def _before_step(optimizer: Optimizer, args: Any, kwargs: Any) -> None:
    mine = watch
    if mine is None or torch.compiler.is_compiling() or mine.session.audit is None or out_of_reach():
        return
    with mine.session.timed():
        mine.session.switch.guard(GROUP, mine.before_step)


def _after_step(optimizer: Optimizer, args: Any, kwargs: Any) -> None:
    mine = watch
    if mine is None or torch.compiler.is_compiling():
        return
    if mine.session.audit is None:
        mine.stepped.add(id(optimizer))
        if mine.session.updates >= mine.glance_at and not out_of_reach():
            with mine.session.timed():
                mine.session.switch.guard(GROUP, mine.glance)
        return
    if out_of_reach():
        return
    with mine.session.timed():
        mine.session.switch.guard(GROUP, mine.after_step, optimizer)


def _loading(original: Any) -> Any:
    def load_state_dict(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        mine = watch
        if mine is None or torch.compiler.is_compiling() or getattr(mine.local, "loading", False):
            return original(self, *args, **kwargs)
        guard = mine.session.switch.guard
        state = args[0] if args else kwargs.get("state_dict")
        source = guard(GROUP, mine.before_load, self, state)
        mine.local.loading = True
        try:
            result = original(self, *args, **kwargs)
        finally:
            mine.local.loading = False
        guard(GROUP, mine.after_load, self, source, result)
        return result

    return stand_in(original, load_state_dict)


@dataclass
class _Weights:
    """A network's parameters as one vector, at a time."""

    flat: Tensor
    shapes: tuple[torch.Size, ...]
    places: frozenset[int]  # where they lie in memory: networks that share some are not copies of one another
    update: int
    whole: bool


@dataclass
class _Tally:
    module: str
    source: str | None
    how: str
    times: int = 0
    updates: list[int] = field(default_factory=list)
    taus: list[float] = field(default_factory=list)
    line: tuple[str, int] | None = None
    storages: list[StorageWeakRef] = field(default_factory=list)  # of what was loaded, while its network is not known


_Glance = tuple[int, str, dict[str, float]]  # updates before it, fingerprint, how far from others of the same shapes


class Copies:
    def __init__(self, session: Any) -> None:
        self.session = session
        self.local = threading.local()
        self.stepped: set[int] = set()  # ids of optimizers that stepped since the last look
        self._audit: int | None = None
        self._looks = self._between = 0
        self._passes = 0  # backward, since an optimizer stepped
        self._last: dict[str, _Weights] = {}  # at the last look, or after its own optimizer's step
        self._anchor: dict[str, _Weights] = {}  # at the end of the last audit
        self._by_hand: dict[str, int] = {}  # looks at which it had moved, and nothing explains it
        self._trained: set[str] = set()  # an optimizer of theirs stepped since the last audit
        self._tally: dict[tuple[str, str | None, str], _Tally] = {}
        self.glance_at = _GLANCE
        self._glances: dict[str, list[_Glance]] = {}

    # ── looking ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def before_step(self) -> None:
        if self._begun() and self._looks < _LOOKS:
            self._looks += 1
            self._look()

    def before_backward(self) -> None:
        """Gradients of several passes are added up: a target network that moves in between follows more than once."""
        self._begun()
        self._passes += 1
        if self._passes > 1 and self._between < _BETWEEN:
            self._between += 1
            self._look()

    def after_step(self, optimizer: Optimizer) -> None:
        self._begun()
        self._passes = 0
        own = {id(each) for group in optimizer.param_groups for each in group["params"]}
        for name, module in self._modules():
            if any(id(each) in own for each in module.parameters()):
                self._trained.add(name)
                if name in self._last:
                    self._last[name] = self._weights(module)
        if self._looks >= _LOOKS:
            self._last.clear()  # from here on they move, and nobody follows

    def at_audit_end(self, recording: Any) -> None:
        self._begun()
        now = self._look()
        norms = {name: each for name, module in self._modules() if (each := statistics(module)) is not None}
        for name, module in self._modules():
            if name in now:
                recording.event("weights", {**self._describe(name, module, now), **compared(name, norms)})
        self._anchor = {name: each for name, each in now.items() if self._room(now, 2)}
        self._by_hand.clear()
        self._trained.clear()
        self._last.clear()
        self.tell()

    def _begun(self) -> bool:
        """The first look in an audit: what moved since the last one is not known in detail."""
        number = self.session.audit.number if self.session.audit is not None else None
        if number == self._audit:
            return True
        self._audit, self._looks, self._between, self._passes = number, 0, 0, 0
        for name, module in self._modules():
            ids = {id(each) for each in module.parameters()}
            for reference in self.session.registry.optimizers.values():
                optimizer = reference()
                if optimizer is None or id(optimizer) not in self.stepped:
                    continue
                if any(id(each) in ids for group in optimizer.param_groups for each in group["params"]):
                    self._trained.add(name)
        self.stepped.clear()
        self._last = self._all()
        return True

    def _look(self) -> dict[str, _Weights]:
        now = self._all()
        moved = [
            name
            for name, each in now.items()
            if name in self._last
            and self._last[name].shapes == each.shapes
            and not torch.equal(self._last[name].flat, each.flat)
        ]
        found = {name: self._explain(name, now) for name in moved}
        explained = [now[name].places for name, each in found.items() if each is not None]
        for name, each in found.items():
            if each is not None:
                self._event(name, how="in place", line=None, **each)
            elif not any(places & now[name].places for places in explained):  # else a part of it was copied to
                self._by_hand[name] = self._by_hand.get(name, 0) + 1
                blend = self._blend(name, now)
                if blend is not None and self.session.audit is not None:
                    self.session.audit.event("blend", {"module": name, **blend})
        self._last = now
        return now

    def _explain(self, name: str, now: Mapping[str, _Weights]) -> dict[str, Any] | None:
        """Which network its weights moved towards, and how far: new = old + tau (source − old)."""
        old, new = self._last[name], now[name]
        move = new.flat - old.flat
        size = float(move.norm())
        best: tuple[float, float, str, str] | None = None
        for other in now:
            for when, each in (("now", now[other]), ("before", self._last.get(other))):
                if other == name or each is None or each.shapes != new.shapes or each.places & new.places:
                    continue
                away = each.flat - old.flat
                square = float(away.dot(away))
                if not square > 0.0:
                    continue
                tau = float(move.dot(away)) / square
                left = float((move - tau * away).norm()) / size if size else 1.0
                if best is None or left < best[0]:
                    best = (left, tau, other, when)
        if best is None or not best[0] < _EXPLAINED:
            return None
        scale = float(old.flat.norm())
        return {
            "source": best[2],
            "tau": best[1],
            "residual": best[0],
            "when": best[3],
            "change": size / scale if scale else None,
            "updates": self.session.updates - old.update,
        }

    def _blend(self, name: str, now: Mapping[str, _Weights]) -> dict[str, Any] | None:
        """Parts of its old weights and of another network, which need not add up: new = keep · old + take · source."""
        old, new = self._last[name], now[name]
        square, size = float(old.flat.dot(old.flat)), float((new.flat - old.flat).norm())
        for other, each in now.items():
            if other == name or each.shapes != new.shapes or each.places & new.places or not size > 0.0:
                continue
            across, theirs = float(old.flat.dot(each.flat)), float(each.flat.dot(each.flat))
            whole = square * theirs - across * across
            if not whole > 1e-9 * square * theirs:
                continue  # nearly the same: which part came from where cannot be told
            mine, other_s = float(new.flat.dot(old.flat)), float(new.flat.dot(each.flat))
            keep = (mine * theirs - other_s * across) / whole
            take = (other_s * square - mine * across) / whole
            left = float((new.flat - keep * old.flat - take * each.flat).norm()) / size
            if left < _EXPLAINED:
                return {"source": other, "keep": keep, "take": take, "residual": left}
        return None

    def _event(self, module: str, *, source: str | None, how: str, line: tuple[str, int] | None, **rest: Any) -> None:
        tally = self._tally.setdefault((module, source, how), _Tally(module, source, how, line=line))
        tally.times += 1
        if len(tally.updates) < _TIMES:
            tally.updates.append(self.session.updates)
            if "tau" in rest:
                tally.taus.append(rest["tau"])
        if self.session.audit is not None:
            self.session.audit.event("copy", {"module": module, "source": source, "how": how, "line": line, **rest})

    def _describe(self, name: str, module: nn.Module, now: Mapping[str, _Weights]) -> dict[str, Any]:
        own, anchor = now[name], self._anchor.get(name)
        norm = float(own.flat.norm())
        alike = [each for each in now if each != name and now[each].shapes == own.shapes]
        change = None
        if anchor is not None and anchor.shapes == own.shapes:
            before = float(anchor.flat.norm())
            change = float((own.flat - anchor.flat).norm()) / before if before else None
        return {
            "module": name,
            "norm": norm,
            "change": change,
            "since": None if anchor is None else self.session.updates - anchor.update,
            "trained": name in self._trained,
            "by_hand": self._by_hand.get(name, 0),
            "fingerprint": _print(own.flat),
            "nonfinite": int((~torch.isfinite(own.flat)).sum()),
            "zero": float((own.flat == 0).float().mean()),
            "whole": own.whole,
            "training": module.training,
            "distance": {
                each: float((now[each].flat - own.flat).norm()) / norm if norm else None
                for each in alike
                if not now[each].places & own.places
            },
            "shares": [each for each in now if each != name and now[each].places & own.places],
        }

    # ── loading ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def before_load(self, module: nn.Module, state: Any) -> tuple[str | None, list[StorageWeakRef]]:
        """The network whose own tensors are being loaded; where they are copies, one that holds the same numbers."""
        if self.session.audit is not None:
            self._begun()
            name = self.session.registry.module(module)
            weights = self._weights(module)
            if name in self._last and not torch.equal(self._last[name].flat, weights.flat):
                self._look()
            self._last[name] = weights
        if not isinstance(state, Mapping):
            return None, []
        names = [key for key, each in module.named_parameters() if plain(each) and each.numel()]
        given = {key: each.detach() for key in names if isinstance(each := state.get(key), Tensor) and plain(each)}
        equal = None
        for name, other in self.session.registry.living():
            own = dict(other.named_parameters())
            if not given or other is module or not all(key in own and plain(own[key]) for key in given):
                continue
            if all(own[key].data_ptr() == each.data_ptr() for key, each in given.items()):
                return str(name), []
            if equal is None and all(_equal(own[key], each) for key, each in given.items()):
                equal = str(name)
        # A target is often filled before anything is called: its source is found later, if it holds these very tensors.
        return equal, [] if equal else [_storage(each) for each in given.values()]

    def after_load(self, module: nn.Module, seen: tuple[str | None, list[StorageWeakRef]] | None, result: Any) -> None:
        source, storages = seen or (None, [])
        name = self.session.registry.module(module)
        rest: dict[str, Any] = {}
        if self.session.audit is not None and name in self._last:
            now = self._all()
            if source is None and name in now and self._last[name].shapes == now[name].shapes:
                rest = self._explain(name, now) or {}
            if name in now:
                self._last[name] = now[name]
        source = source or rest.pop("source", None)
        line = users_line(2)
        missing = list(getattr(result, "missing_keys", ()))[:8]
        unexpected = list(getattr(result, "unexpected_keys", ()))[:8]
        if source is None:
            self._settle(name, "load_state_dict")
        known = (name, source, "load_state_dict") in self._tally
        self._event(name, source=source, how="load_state_dict", line=line, **rest)
        self._tally[name, source, "load_state_dict"].storages = storages
        if not known:
            self.session.note("load", module=name, source=source, line=line, missing=missing, unexpected=unexpected)

    def glance(self) -> None:
        """Between audits, ever further apart, until the end of the run: a target that stays may only be slow."""
        self.glance_at = self.session.updates + max(self.session.updates // 2, _GLANCE)
        now = self._all()
        for name, own in now.items():
            alike = [each for each in now if each != name and now[each].shapes == own.shapes]
            norm = float(own.flat.norm()) if alike else 0.0
            if not norm:
                continue
            apart = {each: float((now[each].flat - own.flat).norm()) / norm for each in alike}
            kept = self._glances.setdefault(name, [])
            del kept[_GLANCES - 1 :]
            kept.append((self.session.updates, _print(own.flat), apart))

    def tell(self) -> None:
        for module, several in self._glances.items():
            updates, prints, apart = zip(*several, strict=True)
            self.session.thing("glance", module, module=module, updates=updates, prints=prints, distance=apart)
        for module, source, how in list(self._tally):
            if source is None:
                self._settle(module, how)
        for (module, source, how), each in self._tally.items():
            self.session.thing(
                "copy",
                f"{module}<-{source}:{how}",
                module=module,
                source=each.source,
                how=how,
                times=each.times,
                updates=each.updates,
                taus=each.taus,
                line=each.line,
            )

    def _settle(self, module: str, how: str) -> None:
        """A load whose network was not known then may be one of a network that is known by now. Loads that follow, of
        mixtures made by hand, are none of that network, so it is told apart from them."""
        each = self._tally.get((module, None, how))
        if each is None or not each.storages or any(each.updates[1:]):
            return  # of several only the last is remembered
        source = self._holder(each.storages)
        if source is None:
            return
        del self._tally[module, None, how]
        each.source, each.storages = source, []
        other = self._tally.setdefault((module, source, how), each)
        if other is not each:
            other.times += each.times
            other.updates = sorted(each.updates + other.updates)[:_TIMES]
            other.line = each.line or other.line

    def _holder(self, storages: list[StorageWeakRef]) -> str | None:
        """The network that holds these tensors now. They were a file's, and gone, or a copy, if there is none."""
        if any(each.expired() for each in storages):  # type: ignore[no-untyped-call]
            return None
        wanted = {each.cdata for each in storages}
        for name, module in self.session.registry.living():
            own = {_storage(each).cdata for each in module.parameters() if plain(each)}
            if wanted <= own:
                return str(name)
        return None

    # ── weights ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _modules(self) -> Iterator[tuple[str, nn.Module]]:
        yield from self.session.registry.living()[:_MODULES]

    def _all(self) -> dict[str, _Weights]:
        found: dict[str, _Weights] = {}
        for name, module in self._modules():
            if self._room(found, 1) and next(module.parameters(), None) is not None:
                weights = self._weights(module)
                if len(weights.flat):
                    found[name] = weights
        return found

    def _room(self, kept: Mapping[str, _Weights], times: int) -> bool:
        return times * sum(len(each.flat) for each in kept.values()) < _KEPT

    def _weights(self, module: nn.Module) -> _Weights:
        parameters = [each.detach() for each in module.parameters() if plain(each) and _numbers(each)]
        whole = sum(each.numel() for each in parameters) <= _WHOLE
        parts = [each.reshape(-1) if whole else each.reshape(-1)[:_PART] for each in parameters]
        flat = torch.cat([each.to(parts[0].device, torch.float32) for each in parts]) if parts else torch.empty(0)
        return _Weights(
            flat,
            tuple(each.shape for each in parameters),
            frozenset(each.data_ptr() for each in parameters),
            self.session.updates,
            whole,
        )


def _print(flat: Tensor) -> str:
    return f"{zlib.crc32(flat.cpu().numpy().tobytes()):08x}"


def _storage(tensor: Tensor) -> StorageWeakRef:
    return StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]


def _numbers(parameter: Tensor) -> bool:
    return parameter.is_floating_point() and parameter.numel() > 0 and parameter.device.type != "meta"


def _equal(parameter: Tensor, given: Tensor) -> bool:
    return parameter.shape == given.shape and parameter.device == given.device and torch.equal(parameter, given)
