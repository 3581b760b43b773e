"""Calls of networks, by global module hooks that are registered for audited stretches only.
 Even an empty global hook costs half as much as a small forward pass: outside of audits there is none. Calls from
outside any other module are recorded; of those inside, the ones of modules that are also called from outside, since a
policy object may run its value head inside of itself when acting and by itself when training.
"""

from __future__ import annotations

import re
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any
from weakref import ref

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.modules import module as module_hooks
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from rldebug.capture.activated import Activated
from rldebug.capture.drawn import random_state
from rldebug.capture.entered import Entered
from rldebug.capture.env_facts import lying_in
from rldebug.capture.lent import Lent
from rldebug.capture.mapped import answers, given_to_all, is_ensemble, unmapped
from rldebug.capture.matching import ROWS, to_numpy
from rldebug.capture.modules import transformed
from rldebug.capture.output_gradients import OutputGradients
from rldebug.capture.place import users_line
from rldebug.capture.recording import CELLS, WIDTH, Recording
from rldebug.capture.row_tags import RowTags
from rldebug.capture.stacked import answers_each, newest_frames
from rldebug.capture.tokens import Tokens

GROUP = "networks"
_NESTED = 512  # nested calls that are recorded in one audit
_TAGS = 256
_OPEN = -1  # in the stack of calls: the one before it only hands on
_CALLED = nn.Module._call_impl.__code__
_A_HOOK = 2e-6  # seconds that it takes to call one: too short to be measured each time


# torch.compile warns about global hooks; what is compiled does not run ours, and need not be told about.
_ABOUT_HOOKS = re.compile(r"Using `torch.compile\(module\)` when there are global hooks", re.IGNORECASE)


def _keep_quiet() -> None:
    """By hand: filterwarnings() would make Python forget which warnings the program has already been shown."""
    given = ("ignore", _ABOUT_HOOKS, Warning, None, 0)
    if given not in warnings.filters:
        warnings.filters.insert(0, given)  # type: ignore[attr-defined]


class Networks:
    """Registers the hooks when an audit begins, and removes them when it ends."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self._handles: list[Any] = []
        self._here = threading.local()
        self._tags: dict[int, tuple[Any, NDArray[np.int64]]] = {}  # id of an output -> rows it was computed from
        self.row_tags = RowTags()
        self.entered = Entered()
        self._activated = Activated()
        self._outside: set[int] = set()  # ids of modules that were called from outside any other
        self._nested = 0
        self._began_in = 0  # the thread that an audit began in
        self._gradients = OutputGradients(session)
        self._tokens = Tokens(session)
        self._lent = Lent(session.registry)

    def begin(self) -> None:
        if self._handles or not self.session.switch.on(GROUP):
            return
        self._nested = 0
        self._here = threading.local()
        self._began_in = threading.get_ident()
        self._activated = Activated()
        _keep_quiet()
        self._handles = [
            register_module_forward_pre_hook(self._before),
            register_module_forward_hook(self._after, with_kwargs=True),
        ]

    def end(self) -> None:
        for handle in self._handles:
            handle.remove()
            # torch leaves this one behind, and torch.compile would warn of hooks that are gone.
            getattr(module_hooks, "_global_forward_hooks_with_kwargs", {}).pop(handle.id, None)
        self._handles = []
        self._tags.clear()
        self.row_tags.clear()
        self.entered.clear()

    # Hooks run inside the user's forward pass: they return None, whatever happens.

    def _before(self, module: nn.Module, args: Any) -> None:
        if torch.compiler.is_compiling():
            return
        stack = getattr(self._here, "stack", None)
        if stack is None:
            if self._within_another(module):
                return  # an audit began in another thread, and in the middle of this one's forward pass
            stack = self._here.stack = []
        if not stack and self.session.listener is not None:
            self.session.switch.guard(GROUP, self.session.listener.hear)
        if not stack or stack[-1] == _OPEN:
            self.entered.begin()
            self._here.drawn = random_state()
        else:
            self.entered.layer(module, args)
        stack.append(id(module))
        if args and is_table(args[0]):
            # Given a whole table, of which it picks what its parts are given: those are the networks.
            stack.append(_OPEN)

    def _within_another(self, module: nn.Module) -> bool:
        if threading.get_ident() == self._began_in:
            return False
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code is _CALLED and frame.f_locals.get("self") is not module:
                return True
            frame = frame.f_back  # type: ignore[assignment]
        return False

    def _after(self, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        if torch.compiler.is_compiling():
            return
        stack = getattr(self._here, "stack", None)
        if not stack:
            return
        # An exception in a forward pass leaves frames behind: unwind to our own.
        last = 0
        while stack and (frame := stack.pop()) != id(module):
            last = frame
        if last == _OPEN:
            return
        session = self.session
        depth = len(stack) - 2 * stack.count(_OPEN)
        if depth:
            if id(module) not in self._outside or self._nested >= _NESTED:
                session.timed().spent += _A_HOOK
                return
            self._nested += 1
        with session.timed():
            session.switch.guard(GROUP, self._saw, module, args, kwargs, output, depth)

    def _saw(self, module: nn.Module, args: Any, kwargs: Any, output: Any, depth: int) -> None:
        session, audit = self.session, self.session.audit
        if audit is None:
            return
        drew = not depth and random_state() != getattr(self._here, "drawn", None)
        ensemble = False
        if transformed():
            ensemble = is_ensemble(module)
            args = given_to_all(args) if ensemble else unmapped(module, args)
            output = answers(output) if ensemble else unmapped(module, output)
            if not args or not output:
                return
        if not depth:
            self._outside.add(id(module))
        inputs = [each for each in tensors_in((with_tensors(args), kwargs)) if each.numel()]
        rows, how = self._rows(audit, inputs)
        parts = inputs if (whole := self._whole(inputs, how)) is not None else []
        inputs = inputs if whole is None else whole
        outputs = list(tensors_in(output))[:4]
        frames = None
        if how not in ("none", "tag"):
            at = min(session.matcher.place, len(inputs) - 1)
            every, rows = rows, newest_frames(rows, answers_each(inputs[at], outputs, module), sure=True)
            frames = every.reshape(len(rows), -1) if 0 < len(rows) < len(every) else None
        acting = self._is_acting(rows)
        if how not in ("none", "tag") and 0 < (place := session.matcher.place) < len(inputs):
            inputs.insert(0, inputs.pop(place))  # the observation stands first, whatever the order of a dictionary
        if acting:
            if how == "alias" and inputs:
                self._now_acting(inputs[0], rows)
            rows = self._current(inputs, rows, how)
        elif (
            how in ("none", "alias")
            and inputs
            and not self._led_to(rows)
            and not (how == "alias" and session.matcher.just_left(rows))
            and (
                session.just_acted_on != audit.log.calls
                or (how == "none" and self._once_more(inputs[0]))
                or self._now_acting(inputs[0], rows)
            )
        ):
            rows, how, acting = self._by_time(inputs, rows, how)
        if how == "none" and not acting and inputs and (found := self.row_tags.find(inputs[0])) is not None:
            rows, how = found, "tag"
        if outputs and not audit.late:
            self._activated.remember(outputs[0], rows)
        for each in outputs:
            self._tag(each, rows)
            if not audit.late:
                self.row_tags.remember(each, rows)
        axes: dict[str, Any] = {}
        if not depth and inputs and not audit.late:
            axes = self.entered.axes(inputs)
            self.entered.end(inputs, rows, self._alike)
        if acting:
            session.just_acted_on = audit.log.calls
        audit.refer(rows)
        name = session.registry.called(self._lent.network(module))
        session.called(name, module, acting=acting, grad=torch.is_grad_enabled(), rows=len(rows))
        count = len(rows)
        arrays: dict[str, NDArray[Any]] = {"rows": rows}
        if acting and frames is not None:
            audit.refer(frames.ravel())
            arrays["frames"] = frames  # of each stack all observations, the newest among them
        late = audit.late and not acting  # which rows are learned from, and no more
        if late:
            inputs = outputs = []
        if inputs:
            self._keep(arrays, "input", inputs[0], count)
        narrow = [each for each in parts if each.dim() <= 2 and 0 < each.numel() <= count * WIDTH]
        if narrow and "input" not in arrays:  # beside a picture
            self._keep(arrays, "narrow", narrow[0], count)
        for place, each in enumerate(inputs[1:3], start=1):  # the action, of a critic that takes it by itself
            if each.dim() == 3 and each.shape[1] == count != len(each):
                each = each.transpose(0, 1)  # the state of a recurrent layer: layers first
            if each.dim() > 1 and len(each) == count and each.numel() <= count * WIDTH:
                self._keep(arrays, f"input{place}", each, count)
        if len(inputs) > 1 and (begun := begun_with(inputs[0], inputs[1], count)) is not None:
            arrays["begun"] = begun
        for place, each in enumerate(outputs):
            self._keep(arrays, f"output{place}", each, count)
        detail = {
            "module": name,
            "training": module.training,
            "grad": torch.is_grad_enabled(),
            "acting": acting,
            **({"drew": True} if acting and drew else {}),
            **axes,
            "match": how,
            "depth": depth,
            "inputs": [
                {"shape": list(each.shape), "dtype": str(each.dtype), "attached": each.requires_grad}
                for each in (parts or inputs)[:4]
            ],
            "outputs": [
                {"shape": list(each.shape), "dtype": str(each.dtype), "attached": each.requires_grad}
                for each in outputs
            ],
            "returns": type(output).__name__,
            "line": users_line(2),
        }
        audit.event("call", detail, {name: each for name, each in arrays.items() if len(each) == count})
        if not acting and not late and not ensemble:  # its members were told apart just now: no loss has seen those
            self._gradients.follow(name, outputs, count)
            self._tokens.follow(name, module.training, inputs, outputs)

    def _rows(self, audit: Recording, inputs: list[Tensor]) -> tuple[NDArray[np.int64], str]:
        found = None
        for place, each in enumerate(inputs):
            tagged = self._tags.get(id(each))
            if tagged is not None and tagged[0]() is each:
                if place == 0:
                    return tagged[1], "tag"
                found = tagged[1]
                break
        rows, how = audit.rows(inputs)
        if how == "none" and inputs and (bent := self._activated.find(inputs[0])) is not None:
            return bent, "tag"
        # A state that is carried from step to step was computed from the rows of the step before: what stands first is
        # the observation, also where it was changed on the way.
        if found is None or how != "none" or self._may_be_current(inputs[0]):
            return rows, how
        return found, "tag"

    def _whole(self, inputs: list[Tensor], how: str) -> list[Tensor] | None:
        """The parts of an observation joined to one, and what was given beside them; None where there are no parts."""
        whole = self.session.matcher.whole if how != "tag" else None
        if whole is None or (whole.rows is None and how == "none" and not self._may_be_current(inputs[0])):
            return None
        return [whole.joined, *(each for place, each in enumerate(inputs) if place not in whole.places)]

    def _may_be_current(self, tensor: Tensor) -> bool:
        session = self.session
        if not tensor.dim() or session.just_acted_on == session.log.calls:
            return False
        return len(tensor) == len(session.log.current(len(tensor)))

    def _is_acting(self, rows: NDArray[np.int64]) -> bool:
        current = self.session.log.current(len(rows))
        return (
            bool(current)
            and len(rows) == len(current)
            and all(
                each.id == row or (row >= 0 and self._equal(each, int(row)))
                for each, row in zip(current, rows, strict=True)
            )
        )

    def _current(self, inputs: list[Tensor], rows: NDArray[np.int64], how: str) -> NDArray[np.int64]:
        """Rows were found at the newest that look so; the program acts on those of now, one for each lane."""
        array = to_numpy(inputs[0]) if how == "alias" and inputs else None
        learned = None if array is None else self.session.matcher.learn(array)
        if learned is not None:
            return np.asarray(learned, dtype=np.int64)
        return np.array([each.id for each in self.session.log.current(len(rows))], dtype=np.int64)

    def _equal(self, node: Any, row: int) -> bool:
        other = self.session.log.get(row)
        return other is not None and other.fp == node.fp

    def _alike(self, row: int, other: int) -> bool:
        node = self.session.log.get(row)
        return node is not None and self._equal(node, other)

    def _by_time(self, inputs: list[Tensor], rows: NDArray[np.int64], how: str) -> tuple[NDArray[np.int64], str, bool]:
        """Unmatched, as many rows as lanes, and nothing was called since the environment: the current observations."""
        array = to_numpy(inputs[0])
        learned = None if array is None else self.session.matcher.learn(array)
        return (rows, how, False) if learned is None else (learned, "alias", True)

    def _led_to(self, rows: NDArray[np.int64]) -> bool:
        """Known to be what steps led to: the current observations, and where an episode has just ended its last one."""
        current = self.session.log.current(len(rows))
        if len(current or ()) != len(rows):
            return False
        others = [(node, self.session.log.get(int(row))) for node, row in zip(current, rows, strict=True) if row >= 0]
        ended = [(node, other) for node, other in others if other is not node]
        return bool(ended) and all(
            other is not None and node.first and other.succ == node.id and not other.acted for node, other in ended
        )

    def _once_more(self, tensor: Tensor) -> bool:
        """What follows a step is valued, the statistics of a normaliser move on, and then it is acted on."""
        array = None if torch.is_grad_enabled() else to_numpy(tensor)
        if array is None or not self.session.matcher.nearly_learned(array):
            return False
        self._were_last(self.session.matcher.nearly_valued_last(array))
        return True

    def _now_acting(self, tensor: Tensor, rows: NDArray[np.int64]) -> bool:
        """What steps led to is valued, also where an episode ended, and then the current observations are acted on."""
        array = None if torch.is_grad_enabled() else to_numpy(tensor)
        ends = None if array is None else self.session.matcher.valued_last(array, rows)
        if ends is None:
            return False
        self._were_last(ends)
        return True

    def _were_last(self, ends: dict[int, int]) -> None:
        """What was taken for acting just now was a look at what steps led to: of these lanes the last observations."""
        for event in reversed(self.session.audit.events if ends else ()):
            if event.call != self.session.log.calls:
                break
            if event.kind == "call" and event.detail["acting"] and event.detail["match"] == "alias":
                event.detail["acting"] = False
                found = event.arrays["rows"].copy()
                found[list(ends)] = list(ends.values())
                event.arrays["rows"] = found
                self.session.audit.refer(found)

    def _tag(self, tensor: Tensor, rows: NDArray[np.int64]) -> None:
        if not len(rows):
            return
        if len(self._tags) > _TAGS:
            self._tags.clear()
        self._tags[id(tensor)] = (ref(tensor), rows)

    def _keep(self, arrays: dict[str, NDArray[Any]], name: str, tensor: Tensor, count: int) -> None:
        """One row for each row of the input, at most WIDTH columns; of a wide one its range, mean and spread."""
        array = to_numpy(tensor)
        if array is None or not count or array.size % count:
            return
        matrix = array.reshape(count, -1)
        if matrix.shape[1] > WIDTH:
            wide = matrix.astype(np.float32)
            stats = [wide.min(axis=1), wide.max(axis=1), wide.mean(axis=1), wide.std(axis=1)]
            arrays[f"{name}_stats"] = np.stack(stats, axis=1)
            if name == "input":
                return
        wide_too = name.startswith("output") and matrix.size <= CELLS  # a distribution for each action
        kept = matrix[:ROWS] if wide_too else matrix[:ROWS, :WIDTH]
        arrays[name] = kept.astype(np.float32) if kept.dtype.kind == "f" else kept.copy()


def begun_with(given: Tensor, state: Tensor, count: int) -> NDArray[np.float32] | None:
    """Of sequences, the state that each begins with, in the row that it begins with; NaN in all others."""
    if given.dim() != 3 or state.dim() != 3 or not state.is_floating_point() or count > ROWS:
        return None
    one, two = given.shape[:2]
    if one * two != count or min(one, two) < 2 or one == two or state.shape[1] not in (one, two):
        return None
    array = to_numpy(state.transpose(0, 1).reshape(state.shape[1], -1)[:, :WIDTH])
    if array is None:
        return None
    begun = np.full((count, array.shape[1]), np.nan, dtype=np.float32)
    begun[:: 1 if state.shape[1] == two else two][: len(array)] = array
    return begun


def is_table(value: Any) -> bool:
    """A TensorDict, a Batch, a record of the user's: entries by name, and no tensor or collection of them itself."""
    if isinstance(value, (dict, list, tuple, Tensor, np.ndarray, torch.distributions.Distribution, nn.Module)):
        return False
    kind = type(value)
    if isinstance(value, Mapping) or is_dataclass(kind):
        return True
    # What can be made an array of is rows: frames that are stacked when they are asked for.
    rows = kind in (str, bytes, range) or lying_in(kind, "__array__") is not None
    return lying_in(kind, "__getitem__") is not None and not rows


_DEEP = 4  # arguments, of which one may be (observation, (state, cell))


def tensors_in(value: Any, depth: int = 0) -> Iterator[Tensor]:
    """Tensors in what a module is given or gives back; of a distribution its parameters."""
    if isinstance(value, Tensor):
        yield value
    elif depth < _DEEP and isinstance(value, dict):
        for each in value.values():
            yield from tensors_in(each, depth + 1)
    elif depth < _DEEP and isinstance(value, (tuple, list)):
        for each in value[:16]:
            yield from tensors_in(each, depth + 1)
    elif isinstance(value, torch.distributions.Distribution):
        yield from parameters_of(value)


def with_tensors(args: Any) -> Any:
    """What a module is given, with tensors for arrays: one whose first argument is an array makes them itself."""
    if not args or not isinstance(args[0], np.ndarray):
        return args
    return tuple(
        torch.tensor(each) if isinstance(each, np.ndarray) and each.dtype.kind in "fiub" else each for each in args
    )


def parameters_of(dist: torch.distributions.Distribution) -> Iterator[Tensor]:
    for name in ("logits", "loc", "scale", "concentration", "concentration1", "concentration0", "rate"):
        # Only what is there already: asking for logits of a distribution made from probs would compute them.
        each = vars(dist).get(name)
        if isinstance(each, Tensor):
            yield each
    if "logits" not in vars(dist) and isinstance(vars(dist).get("probs"), Tensor):
        yield vars(dist)["probs"]
    base = vars(dist).get("base_dist")
    if isinstance(base, torch.distributions.Distribution):
        yield from parameters_of(base)
