"""Losses, as they are handed to autograd: what each is made of, and which networks it leads to.

Outside of audits a backward pass is counted and nothing else. In an audit some are walked, just before they run:
afterwards what the nodes have saved is gone.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Sequence
from types import FrameType, ModuleType
from typing import Any
from weakref import ReferenceType, ref

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.fx import traceback as stacks

from rldebug.capture.place import is_users, users_line
from rldebug.capture.stacked import newest_frames
from rldebug.capture.stand_in import calling_line, out_of_reach, stand_in, tell_torchscript

GROUP = "backward"
_FIRST = 4  # losses of one line of code that are walked; then those whose number after these is a power of two
_OF_A_LINE = 12
_OF_AN_AUDIT = 16
_NEW_LINES = 24  # a line that was not seen yet is walked still when the others are done
_NODES = 20_000
_NAMES = 16
_TRIES = 3  # to get the lines
_MOST = 0.9  # of the rows are known: no other way to tell them is tried

watch: Backward | None = None


def install(session: Any) -> None:
    global watch
    watch = here = Backward(session)
    switch = session.switch
    switch.replace(GROUP, torch.autograd, "backward", lambda original: _around(original, "backward"))
    switch.replace(GROUP, torch.autograd, "grad", lambda original: _around(original, "grad"))
    tell_torchscript(torch.autograd.backward, "aten::backward", switch)
    tell_torchscript(torch.autograd.grad, "aten::grad", switch)
    switch.replace(GROUP, torch.amp.GradScaler, "scale", _scaling)
    # Whoever changes anomaly mode must find it as they left it.
    modes = torch.autograd.anomaly_mode
    for owner, name in (
        (modes.detect_anomaly, "__init__"),
        (modes.set_detect_anomaly, "__init__"),
        (torch, "set_anomaly_enabled"),
    ):
        switch.replace(GROUP, owner, name, _giving_way)
    switch.when_undone(_forget)
    terms = _loss_terms()
    if terms is not None and hasattr(terms, "install"):
        terms.install(switch)
    session.on_finish.append(here.lines.stop)


def _forget() -> None:
    global watch
    if watch is not None:
        watch.lines.stop()
    watch = None


def lines_wanted(wanted: bool) -> None:
    """Have the nodes of graphs remember the lines that made them, from now until the losses of one update were seen."""
    if watch is not None:
        if wanted:
            watch.lines.start()
        else:
            watch.lines.stop()


def remembers_lines() -> bool:
    """Whether anomaly mode is on, and it is we who switched it on."""
    return Lines.running > 0


def counts() -> dict[str, int]:
    return {} if watch is None else {"backwards": watch.backwards, "grads": watch.grads}


def _around(original: Any, name: str) -> Any:
    def run(*args: Any, **kwargs: Any) -> Any:
        here = watch
        # Inside of a backward pass (checkpointing, a Function of the user's) it is no loss that is run.
        if here is None or torch.compiler.is_compiling() or torch._C._current_graph_task_id() != -1:
            return original(*args, **kwargs)
        if name == "backward":
            here.backwards += 1
        else:
            here.grads += 1
        if here.graphs is not None and here.graphs.wants(here.backwards):
            here.session.switch.guard("graphs", here.graphs.saw, name, args, kwargs)
        if here.session.audit is not None:
            with here.session.timed():
                here.session.switch.guard(GROUP, here.saw, name, args, kwargs)
        elif here.lines.on:
            here.lines.missed()
        if not here.lines.on:
            return original(*args, **kwargs)
        # An error in here would have autograd print the line of the forward pass, as it does not without us.
        here.lines.pause()
        try:
            return original(*args, **kwargs)
        finally:
            here.lines.resume()

    return stand_in(original, run)


def _scaling(original: Any) -> Any:
    def scale(self: Any, outputs: Any) -> Any:
        scaled = original(self, outputs)
        here = watch
        if here is not None and not torch.compiler.is_compiling():
            here.session.switch.guard(GROUP, here.saw_scaling, self, scaled)
        return scaled

    return stand_in(original, scale)


def _giving_way(original: Any) -> Any:
    def change(*args: Any, **kwargs: Any) -> Any:
        here = watch
        if here is not None:
            here.lines.give_way()
        return original(*args, **kwargs)

    return stand_in(original, change)


class Backward:
    def __init__(self, session: Any) -> None:
        self.session = session
        self.backwards = 0
        self.grads = 0
        self.lines = Lines()
        self.graphs: Any = None  # who counts their nodes now and then
        self.reach: Any = None  # who looks for settings that the losses could be made with
        self.between: Callable[[], None] | None = None  # who looks at weights, where gradients are added up
        self._audit: int | None = None
        self._of_line: dict[tuple[str, str, int], int] = {}
        self._walked_of_line: dict[tuple[str, str, int], int] = {}
        self._walked = 0
        self._lined: set[tuple[str, str, int]] = set()  # lines of code whose losses were walked with lines in them
        self._scaled: list[tuple[ReferenceType[Tensor], float]] = []
        self._scale = 1.0  # of outputs that were scaled since the last loss
        self._amp_noted = False

    # ── called in the program's own backward ────────────────────────────────────────────────────────────────────────

    def saw(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        audit = self.session.audit
        if audit is None or out_of_reach():
            return
        roots = _tensors(args[0] if args else kwargs.get("tensors" if name == "backward" else "outputs"))
        roots = [each for each in roots if each.grad_fn is not None]
        if not roots:
            return
        if audit.scouts_for is not None and not self.session.is_worth_it():
            return
        site = (name, *calling_line())
        if audit.number != self._audit:
            self._audit, self._walked = audit.number, 0
            self._of_line.clear()
            self._walked_of_line.clear()
        audit.losses += 1
        if name == "backward" and self.between is not None:
            self.session.switch.guard("copies", self.between)
        if site not in self._of_line:
            audit.newest = audit.steps
            if self.reach is not None:
                self.reach.saw()
        if self._wanted(site):
            self._walked += 1
            audit.walked += 1
            self._walked_of_line[site] = self._walked_of_line.get(site, 0) + 1
            self._walk(audit, name, roots, args, kwargs)
            self._follow_lines(site)
        self._scaled.clear()
        self._scale = 1.0

    def _tagged(self, given: Tensor) -> NDArray[np.int64] | None:
        networks = getattr(self.session, "networks", None)
        return None if networks is None else networks.row_tags.find(given)

    def _entered(self, given: Tensor) -> NDArray[np.int64] | None:
        networks = getattr(self.session, "networks", None)
        return None if networks is None else networks.entered.find(given)

    def saw_scaling(self, scaler: Any, scaled: Any) -> None:
        if not getattr(scaler, "_enabled", False):
            return
        if not self._amp_noted:
            self._amp_noted = True
            self.session.note("amp", what="GradScaler", line=users_line(2))
        factor = getattr(scaler, "_scale", None)
        if self.session.audit is not None and isinstance(factor, Tensor) and not out_of_reach():
            self._scale = float(factor)
            if isinstance(scaled, Tensor):
                self._scaled = [*self._scaled[-7:], (ref(scaled), self._scale)]

    # ── the walk ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _wanted(self, site: tuple[str, str, int]) -> bool:
        count = self._of_line[site] = self._of_line.get(site, 0) + 1
        if count <= 2 and self._walked < _NEW_LINES:
            return True
        after = count - _FIRST
        chosen = after <= 0 or after & (after - 1) == 0
        if not chosen or self._walked_of_line.get(site, 0) >= _OF_A_LINE:
            return False
        # Gradients that are asked for, as by a trust region, leave their room to losses that are descended.
        alike = sum(walked for (name, *_), walked in self._walked_of_line.items() if name == site[0])
        return alike < (_OF_AN_AUDIT if site[0] == "backward" else _OF_AN_AUDIT // 2)

    def _walk(self, audit: Any, name: str, roots: list[Tensor], args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        scalars = all(each.numel() == 1 for each in roots)
        scale = self._scale_of(roots)
        terms: list[Any] = []
        library = _loss_terms()
        if scalars and library is not None:
            terms = [term for each in roots for term in library.terms_of(each)]
        ids: set[int] = set().union(*(each.parameters for each in terms)) if terms else leaves(roots)
        asked = _tensors(kwargs.get("inputs", args[1] if name == "grad" and len(args) > 1 else None))
        if asked:
            ids = {id(each) for each in asked}  # the others get no gradient
        create_graph = kwargs.get("create_graph", args[3] if len(args) > 3 else False)
        reached = self.session.registry.owners(ids)
        frozen = self._missed(reached, ids)
        audit.event(
            "loss",
            {
                "value": sum(float(each.detach()) for each in roots) / scale if scalars else None,
                "how": "grad" if name == "grad" or create_graph else "backward",
                "reached": reached,
                "parameters": len(ids),
                "frozen": frozen[:_NAMES],
                "missed": len(frozen),
                "asked": len(asked),
                "scale": scale,
                "shapes": [list(each.shape) for each in roots[:4]],
                "terms": len(terms),
                "line": users_line(2),
            },
        )
        for term in terms:
            rows, match = audit.rows(term.inputs) if term.inputs else (np.empty(0, np.int64), "none")
            for how, look in (("entered", self._entered), ("tag", self._tagged)):
                if term.inputs and _share(rows) < _MOST:
                    own = max(
                        (each for one in term.inputs if (each := look(one)) is not None), key=_share, default=rows
                    )
                    if _share(own) > _share(rows):
                        rows, match = own, how
            if match in ("none", "alias", "slice", "entered") and (rows < 0).any():
                # The first layer sees one part of the observation only: the network was given all of them.
                whole = audit.in_parts(self.session.registry.owners(term.parameters), rows)
                rows, match = (rows, match) if whole is None else (whole, "parts")
            detail, picked = _detail(term), {}
            if term.picks is not None and len(rows) == term.picks[0]:
                detail["given"], rows = term.picks[0], rows[term.picks[1]]
                picked["picked"] = term.picks[1]
            if match not in ("none", "tag", "entered"):
                rows = newest_frames(rows, int(detail.get("rows") or 0))
            arrays: dict[str, NDArray[Any]] = {**term.arrays, **picked, "rows": rows}
            _describe_input(term.inputs, detail, arrays)
            for name in ("coefficient", "scale"):
                if isinstance(detail.get(name), (int, float)):
                    detail[name] /= scale
            detail["reached"] = self.session.registry.owners(set(term.parameters) & ids if asked else term.parameters)
            detail["sides"] = {side: self.session.registry.owners(own) for side, own in detail.get("sides", {}).items()}
            detail["cut_off"] = self.session.registry.owners(detail["cut_off"])
            detail["match"] = match
            strays = self._strays(term.parameters)
            detail["strays"], detail["plain"] = len(strays), len(strays & term.plain)
            audit.event("term", detail, arrays, update=audit.asked_at(detail["reached"], rows))

    def _scale_of(self, roots: list[Tensor]) -> float:
        for scaled, scale in self._scaled:
            if any(scaled() is each for each in roots):
                return scale or 1.0
        return self._scale or 1.0

    def _missed(self, reached: Iterable[str], ids: set[int]) -> list[str]:
        """Parameters that could learn, of networks that the loss leads to, that it does not lead to."""
        missed: list[str] = []
        for name in reached:
            module = self.session.registry.modules[name]()
            if module is not None:
                missed += [
                    f"{name}.{own}"
                    for own, each in module.named_parameters()
                    if each.requires_grad and id(each) not in ids
                ]
        return missed

    def _strays(self, ids: Iterable[int]) -> set[int]:
        """Leaves beneath a term that are no part of a network, and that no optimizer holds."""
        registry = self.session.registry
        loose = {each for each in ids if not registry.owners((each,))}
        if not loose:
            return loose
        for each in list(registry.optimizers.values()):
            optimizer = each()
            for group in optimizer.param_groups if optimizer is not None else ():
                loose -= {id(parameter) for parameter in group["params"]}
        return loose

    def _follow_lines(self, site: tuple[str, str, int]) -> None:
        """After the first loss lines are recorded, until one comes round again: by then each was seen with them."""
        if not self.lines.on:
            self.lines.start(once=True)
        elif site in self._lined:
            self.lines.stop()
        else:
            self._lined.add(site)


class Lines:
    """Anomaly mode, without its checks: each node of a graph remembers where it was made. On for one update only.

    It changes nothing that is computed. What makes it slow is that torch writes down the whole stack for each node,
    with the text of every line; ours goes as far as the first frame of the program.
    """

    running = 0  # of all there are

    def __init__(self) -> None:
        self.on = False
        self._done = False
        self._tries = 0
        self._set: Callable[..., None] = torch.set_anomaly_enabled
        self._before = (False, True)
        self._stack = stacks.format_stack

    def start(self, once: bool = False) -> None:
        if self.on or (once and self._done) or torch.is_anomaly_enabled():
            return  # where it is on already, the lines are there
        self._before = (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
        self._stack = stacks.format_stack
        stacks.format_stack = _short_of(self._stack)
        self._set(True, check_nan=False)
        self.on = self._done = True
        Lines.running += 1

    def stop(self) -> None:
        if self.on:
            self.on = False
            Lines.running -= 1
            self._set(*self._before)
            stacks.format_stack = self._stack

    def missed(self) -> None:
        """A loss went by in which nobody looked for lines. The next audit may try again."""
        self.stop()
        self._tries += 1
        self._done = self._tries >= _TRIES

    def give_way(self) -> None:
        self.stop()
        self._done = True

    def pause(self) -> None:
        self._set(*self._before)

    def resume(self) -> None:
        if self.on:
            self._set(True, check_nan=False)


def _short_of(original: Callable[[], list[str]]) -> Callable[[], list[str]]:
    """For `torch.fx.traceback.format_stack`, which anomaly mode asks, in its form and order. On a deep stack a hundred
    times as quick."""

    def format_stack() -> list[str]:
        if getattr(stacks, "should_preserve_node_meta", False):
            return original()
        frame: FrameType | None = sys._getframe(1)
        said: list[str] = []
        while frame is not None:
            code = frame.f_code
            said.append(f'  File "{code.co_filename}", line {frame.f_lineno}, in {code.co_name}\n')
            if is_users(code.co_filename):
                break
            frame = frame.f_back
        return said[::-1]

    return format_stack


def leaves(roots: Iterable[Tensor]) -> set[int]:
    """id() of the parameters that a graph ends in."""
    todo: list[Any] = [each.grad_fn for each in roots]
    seen, found = set(todo), set()
    while todo and len(seen) < _NODES:
        node = todo.pop()
        variable = getattr(node, "variable", None)
        if variable is not None:
            found.add(id(variable))
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                todo.append(following)
    return found


def _share(rows: NDArray[np.int64]) -> float:
    """Of the rows that are known."""
    return float((rows >= 0).mean()) if len(rows) else 0.0


def _describe_input(inputs: Sequence[Tensor], detail: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """What reaches the first layer, after whatever the network itself does to it: a `/255` inside of forward."""
    if inputs and inputs[0].is_floating_point() and inputs[0].numel():
        first = inputs[0].detach().float()
        arrays["first_input"] = np.array(
            [float(each) for each in (first.min(), first.max(), first.mean(), first.std())]
        )
        detail["first_input_shape"] = list(first.shape)


def _detail(term: Any) -> dict[str, Any]:
    """Everything of a term that is neither array nor tensor."""
    apart = ("arrays", "inputs", "picks", "parameters", "plain")
    return {each.name: getattr(term, each.name) for each in dataclasses.fields(term) if each.name not in apart}


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [each for each in value if isinstance(each, Tensor)]
    return []  # an edge of the graph, or an iterator: to look at it would use it up


def _loss_terms() -> ModuleType | None:
    try:
        from rldebug.capture import loss_terms
    except ImportError:
        return None
    return loss_terms
