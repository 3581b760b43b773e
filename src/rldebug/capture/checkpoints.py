"""Checkpoints: what is saved, what is not, and what becomes of what is loaded.

Decided by where numbers lie in memory, never by names: a tensor in a saved object is the one in the network, or a copy
of it. What is loaded is followed until training goes on: which network took it, did its optimizer get its state back,
and are the weights still there when the first step is taken.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_pre_hook

from rldebug.capture.contents import Contents, Signature, contents_of, given_itself, held_of, place_of, signature_of
from rldebug.capture.living import living
from rldebug.capture.place import shown, users_line
from rldebug.capture.stand_in import stand_in

if TYPE_CHECKING:
    from rldebug.capture.session import Session

GROUP = "checkpoints"
_KEPT = 64  # loaded files, state dicts, and restored networks that are remembered
_WATCHED = 256  # steps after a load in which training is expected to go on
_NAMED = 16  # of a list in a note
_RESUMES = 4  # after which target networks are no longer looked for: it takes a tenth of a second


@dataclass
class Loaded:
    """A file as it came back, and what was taken out of it."""

    number: int
    file: str
    line: tuple[str, int] | None
    update: int
    keys: dict[str, dict[str, int]]
    tensors: dict[int, tuple[weakref.ref[Tensor], str]]  # by where they lie
    states: dict[int, str]  # states of optimizers, by identity
    copies: set[Signature]  # of everything in it: what was copied out by hand is known by its numbers
    taken: dict[str, int] = field(default_factory=dict)  # key of the top level -> how often it was put somewhere
    states_taken: set[int] = field(default_factory=set)


@dataclass
class Restored:
    """A network that took weights out of a file: followed until an optimizer steps it."""

    module: weakref.ref[nn.Module]
    name: str
    file: str
    number: int
    update: int
    weights: dict[int, Signature | None]  # of its parameters, by identity
    line: tuple[str, int] | None
    told: set[int] = field(default_factory=set)


class Checkpoints:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.loads: list[Loaded] = []
        self.restored: list[Restored] = []
        self.given_state: weakref.WeakKeyDictionary[Optimizer, int] = weakref.WeakKeyDictionary()
        self.taken_at: dict[int, tuple[weakref.ref[Any], int]] = {}  # state dicts: when each was taken
        self.kept: dict[int, set[int]] = {}  # of those, at which updates each was saved
        self.copies: dict[tuple[Any, ...], int] = {}
        self.saves = 0
        self.last_save = -1
        self.steps_left = 0
        self.resumes = 0
        self.handle: Any = None

    # ── saving ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def saved(self, thing: Any, file: Any) -> None:
        session = self.session
        if session.updates != self.last_save:
            self.saves, self.last_save = self.saves + 1, session.updates
        # All files of one moment or none: a checkpoint may be spread over several.
        if self.saves > 8 and self.saves & (self.saves - 1):
            return
        found = contents_of(thing)
        pointers, copies = found.pointers(), found.signatures()

        def has(tensor: Tensor) -> bool:
            return place_of(tensor) in pointers or signature_of(tensor) in copies

        modules: dict[str, list[int]] = {}
        for name, module in session.registry.living():
            own = list(module.parameters()) + list(module.buffers())
            if own:
                modules[name] = [sum(map(has, own)), len(own)]
        optimizers: dict[str, dict[str, Any]] = {}
        for name, reference in session.registry.optimizers.items():
            optimizer = reference()
            if optimizer is not None:
                optimizers[name] = held_of(optimizer, found, pointers, copies)
        session.note(
            "save",
            file=_name(file),
            line=users_line(),
            keys=found.keys,
            whole=found.whole,
            modules=modules,
            optimizers=optimizers,
            states=len(found.optimizer_states) + len(found.optimizers),
            kept=self._kept(found, pointers),
        )

    def _kept(self, found: Contents, pointers: set[int]) -> list[dict[str, Any]]:
        """State dicts taken earlier whose tensors are still those of a network that has been trained since."""
        told = []
        for each in found.dicts[:_KEPT]:
            taken = self.taken_at.get(id(each))
            if taken is None or taken[0]() is not each or taken[1] >= self.session.updates:
                continue
            saves = self.kept.setdefault(id(each), set())
            saves.add(self.session.updates)
            trained = {place_of(one) for one in self._trained()}
            alive = sum(isinstance(one, Tensor) and place_of(one) in trained for one in each.values())
            if alive:
                told.append({"taken": taken[1], "tensors": alive, "of": len(each), "saved": len(saves)})
        return told

    def _trained(self) -> Iterable[Tensor]:
        for reference in self.session.registry.optimizers.values():
            optimizer = reference()
            if optimizer is not None:
                yield from (each for group in optimizer.param_groups for each in group["params"])

    def state_taken(self, state: Any) -> None:
        """A state dict is made of the live tensors: whoever keeps it keeps no copy."""
        if len(self.taken_at) >= _KEPT:
            self.taken_at = {key: each for key, each in self.taken_at.items() if each[0]() is not None}
            if len(self.taken_at) >= _KEPT:
                return
        self.kept.pop(id(state), None)
        try:
            self.taken_at[id(state)] = (weakref.ref(state), self.session.updates)
        except TypeError:
            pass  # a plain dict has no weak references; it is not followed

    # ── loading ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def loaded(self, thing: Any, file: Any) -> None:
        if len(self.loads) >= _KEPT:
            return
        found = contents_of(thing)
        keys: dict[str, dict[str, int]] = {each: {"tensors": 0, "arrays": 0, "states": 0} for each in found.keys}
        for kind, items in (("tensors", found.tensors), ("arrays", found.arrays), ("states", found.optimizer_states)):
            for key, _ in items:
                if key in keys:
                    keys[key][kind] += 1
        record = Loaded(
            len(self.loads), _name(file), users_line(), self.session.updates, keys,
            {place: (weakref.ref(each), key) for key, each in found.tensors if (place := place_of(each))},
            {id(each): key for key, each in found.optimizer_states}, found.signatures(),
        )  # fmt: skip
        self.loads.append(record)
        self.session.note("load", what="file", file=record.file, line=record.line, keys=keys, number=record.number)
        self._tell(record)

    def _source(self, tensors: Iterable[Any]) -> tuple[Loaded, str] | None:
        """The file that tensors came out of, and under which key they lay."""
        for each in tensors:
            if not isinstance(each, Tensor):
                continue
            place = place_of(each)
            for record in reversed(self.loads):
                found = record.tensors.get(place)
                # A place is used again when its tensor is gone: only a living one counts.
                if found is not None and (tensor := found[0]()) is not None and place_of(tensor) == place:
                    return record, found[1]
        return None

    def module_loaded(self, module: nn.Module, state: Any, strict: bool, result: Any) -> None:
        missing = getattr(result, "missing_keys", None) or []
        unexpected = getattr(result, "unexpected_keys", None) or []
        tensors = dict(state) if hasattr(state, "items") else {}
        source = self._source(list(tensors.values())[:8]) if self.loads else None
        own = given_itself(module, tensors)
        if source is None and not own and not missing and not unexpected:
            return  # a target network that is brought up to date: seen elsewhere
        line = users_line()
        key = (line, bool(source), own)
        times = self.copies[key] = self.copies.get(key, 0) + 1
        name = self.session.registry.module(module)
        detail: dict[str, Any] = (
            {"file": source[0].file, "number": source[0].number, "key": source[1]} if source else {}
        )
        taken = self.taken_at.get(id(state))
        if times <= 4 or times & (times - 1) == 0:
            self.session.note(
                "restored",
                module=name,
                line=line,
                times=times,
                strict=strict,
                missing=missing[:_NAMED],
                unexpected=unexpected[:_NAMED],
                missed=len(missing),
                unknown=len(unexpected),
                of=len([*module.parameters(), *module.buffers()]),
                own=own,
                taken=taken[1] if own and taken is not None and taken[0]() is state else None,
                **detail,
            )
        if source is not None:
            self._take(source[0], source[1])
            self._follow(module, name, source[0], line)
            # How training goes on from here is worth a look: inputs may be scaled otherwise, rates begin anew.
            self.session.look_soon()

    def optimizer_loaded(self, optimizer: Optimizer, state: Any) -> None:
        self.given_state[optimizer] = self.session.updates
        for record in self.loads:
            key = record.states.get(id(state))
            if key is not None:
                record.states_taken.add(id(state))
                self._take(record, key)
                break
        else:
            record, key = None, None
        self.session.note(
            "restored", optimizer=self.session.registry.optimizer(optimizer), line=users_line(), key=key,
            **({"file": record.file, "number": record.number} if record else {}),
        )  # fmt: skip

    def _take(self, record: Loaded, key: str) -> None:
        record.taken[key] = record.taken.get(key, 0) + 1
        self._tell(record)

    def _tell(self, record: Loaded) -> None:
        self.session.thing(
            "checkpoint", str(record.number), file=record.file, line=record.line, update=record.update,
            keys=record.keys, taken=record.taken, states=len(record.states), states_taken=len(record.states_taken),
        )  # fmt: skip

    # ── does training go on? ────────────────────────────────────────────────────────────────────────────────────────

    def _follow(self, module: nn.Module, name: str, record: Loaded, line: tuple[str, int] | None) -> None:
        self.restored = [each for each in self.restored if (other := each.module()) is not None and other is not module]
        if len(self.restored) >= _KEPT:
            return
        weights = {id(each): signature_of(each) for each in module.parameters()}
        self.restored.append(
            Restored(weakref.ref(module), name, record.file, record.number, self.session.updates, weights, line)
        )
        self.steps_left = _WATCHED
        if self.handle is None:
            self.handle = register_optimizer_step_pre_hook(self._before_step)
            self.session.switch.when_undone(self._let_go)

    def _let_go(self) -> None:
        if self.handle is not None:
            self.handle.remove()
            self.handle = None

    def _before_step(self, optimizer: Optimizer, *_: Any) -> None:
        self.session.switch.guard(GROUP, self._stepping, optimizer)

    def _stepping(self, optimizer: Optimizer) -> None:
        self.steps_left -= 1
        if self.steps_left < 0:
            self._let_go()
            return
        for each in self.restored:
            module = each.module()
            if module is None or id(optimizer) in each.told:
                continue
            each.told.add(id(optimizer))
            trained = [one for group in optimizer.param_groups for one in group["params"]]
            taken = [one for one in trained if id(one) in each.weights]
            if not taken:
                continue
            untouched = self.session.updates == each.update
            own = {id(one) for one in module.parameters()}
            self.resumes += 1
            self.session.note(
                "resumed",
                file=each.file,
                number=each.number,
                module=each.name,
                line=each.line,
                optimizer=self.session.registry.optimizer(optimizer),
                tensors=len(taken),
                of=len(trained),
                lost=sum(id(one) not in own for one in taken),  # replaced since: the optimizer has the old ones
                fresh=not optimizer.state,
                given=optimizer in self.given_state and self.given_state[optimizer] >= each.update,
                changed=sum(signature_of(one) != each.weights[id(one)] for one in taken) if untouched else None,
                twins=self._twins(module) if self.resumes < _RESUMES else [],
            )

    def _twins(self, module: nn.Module) -> list[dict[str, Any]]:
        """Networks made like this one that no optimizer trains: a target network, if it is used as one."""
        trained = {id(each) for each in self._trained()}
        own = [(tuple(each.shape), signature_of(each)) for each in module.parameters()]
        found = []
        for twin in [each for each in living() or () if type(each) is type(module) and each is not module][:8]:
            parameters = list(twin.parameters())
            if [tuple(each.shape) for each in parameters] != [shape for shape, _ in own] or not parameters:
                continue
            if any(id(each) in trained for each in parameters):
                continue
            equal = sum(signature_of(each) == one for each, (_, one) in zip(parameters, own, strict=True))
            name = self.session.registry.known(twin)
            read = sum(any(signature_of(each) in load.copies for load in self.loads) for each in parameters)
            restored = 2 * read > len(parameters) or any(each.module() is twin for each in self.restored)
            found.append({"name": name, "equal": equal, "of": len(own), "restored": restored})
        return found


def _name(file: Any) -> str:
    if isinstance(file, (str, os.PathLike)):
        return shown(str(os.fspath(file)))
    name = getattr(file, "name", None)
    return shown(name) if isinstance(name, str) else type(file).__name__


def _given(ours: Any, original: Any) -> Any:
    return ours


def install(session: Session) -> None:
    seen = Checkpoints(session)
    guard = session.switch.guard

    def make_save(original: Callable[..., Any]) -> Any:
        def save(*args: Any, **kwargs: Any) -> Any:
            given = dict(zip(("obj", "f"), args, strict=False)) | kwargs
            guard(GROUP, seen.saved, given.get("obj"), given.get("f"))
            return original(*args, **kwargs)

        return stand_in(original, save)

    def make_load(original: Callable[..., Any]) -> Any:
        def load(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            guard(GROUP, seen.loaded, result, args[0] if args else kwargs.get("f"))
            return result

        return stand_in(original, load)

    def make_module(original: Callable[..., Any]) -> Any:
        def load_state_dict(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, *args, **kwargs)
            given = dict(zip(("state_dict", "strict"), args, strict=False)) | kwargs
            guard(GROUP, seen.module_loaded, self, given.get("state_dict"), given.get("strict", True), result)
            return result

        return stand_in(original, load_state_dict)

    def make_optimizer(original: Callable[..., Any]) -> Any:
        def load_state_dict(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, *args, **kwargs)
            guard(GROUP, seen.optimizer_loaded, self, args[0] if args else kwargs.get("state_dict"))
            return result

        return stand_in(original, load_state_dict)

    def make_state(original: Callable[..., Any]) -> Any:
        def state_dict(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, *args, **kwargs)
            if not args and "destination" not in kwargs:  # the outermost: its parts write into the same dict
                guard(GROUP, seen.state_taken, result)
            return result

        return stand_in(original, state_dict)

    for name, make in (("save", make_save), ("load", make_load)):
        ours = make(getattr(torch, name))
        # A function is pickled by the name it has in its own module: one stand-in under both names.
        for owner in (torch.serialization, torch):
            session.switch.replace(GROUP, owner, name, partial(_given, ours))
    session.switch.replace(GROUP, nn.Module, "load_state_dict", make_module)
    session.switch.replace(GROUP, nn.Module, "state_dict", make_state)
    session.switch.replace(GROUP, Optimizer, "load_state_dict", make_optimizer)
