"""*Does not require grad*: the line between the networks and the loss at which the graph was cut.

The loss is followed back through the text: assignments, what was put into lists, the user's own functions and the
forward() of networks, until a network is reached. What cut the way is told for each. A frozen network lets the
gradient through to what it was given: it is to blame only where the optimizer in use is to train it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from rldebug.evidence.crashes.facts import Fact, is_module, is_tensor, kind_of
from rldebug.evidence.crashes.in_use import optimizers_in_use, parameters_of_all
from rldebug.evidence.crashes.named import optimizers
from rldebug.evidence.crashes.scene import Scene
from rldebug.evidence.crashes.source import (
    Place,
    called,
    called_with,
    callers,
    fills,
    first_argument,
    latest,
    line_told,
    methods_of,
    parameters_of,
    place_of_function,
)
from rldebug.syntax.names import dotted, library
from rldebug.syntax.places import Function, Scope, above, graph_switch, own_nodes

_METHODS = {
    "detach": "detach()",
    "detach_": "detach_()",
    "numpy": "numpy()",
    "item": "item()",
    "tolist": "tolist()",
    "argmax": "argmax()",
    "argmin": "argmin()",
    "long": "long()",
    "int": "int()",
    "byte": "byte()",
    "bool": "bool()",
}
_COPIES = (
    "tensor",
    "from_numpy",
    "FloatTensor",
    "LongTensor",
    "Tensor",
    "DoubleTensor",
    "argmax",
    "argmin",
    "as_tensor",
)
_SWITCHES = frozenset({"no_grad", "inference_mode", "set_grad_enabled"})
_WEAK = frozenset({"detach()", *_SWITCHES})  # how data is made of a target, rightly
_LEARNED = frozenset({"log_prob", "log_softmax", "cross_entropy", "nll_loss", "logsumexp", "gather", "entropy"})
_BUDGET = 4000
_DEEP = 40


@dataclass(frozen=True, eq=False)
class Cut:
    kind: str
    place: Place
    node: ast.AST

    @property
    def line(self) -> tuple[str, int]:
        return self.place.source.file, getattr(self.node, "lineno", 0)


@dataclass(frozen=True, eq=False)
class Path:
    """On the way back from the loss."""

    cuts: tuple[Cut, ...] = ()  # the one nearest to the network last
    learned: bool = False  # through a log-prob, or the values of the actions taken
    name: str = ""  # what it was assigned to
    followed: str = ""  # the name that was followed last
    given: bool = False  # through what a network was given
    depth: int = 0

    @property
    def cut(self) -> Cut | None:
        """The line to be blamed: the one nearest to the network. In `x.detach().numpy()` the last call tells most."""
        return next((each for each in self.cuts if each.line == self.cuts[-1].line), None)


@dataclass(frozen=True, eq=False)
class Reached:
    path: Path
    network: str
    parameters: tuple[Any, ...] = ()


def cut_facts(scene: Scene) -> Fact:
    facts: Fact = {"fault": "cut", "loss": scene.loss}
    if scene.asked is None:
        return facts
    place, _, loss = scene.asked
    follower = _Follower(scene.stack)
    found = [each for each in follower.back(place, loss, Path(followed=dotted(loss))) if each.path.cut is not None]
    used = optimizers_in_use(scene)
    in_use = {id(each) for each in parameters_of_all(used)}
    trained = {id(each) for each in parameters_of_all([each.value for each in optimizers(scene.named)])}
    found.sort(key=lambda each: _order(each, in_use, trained))
    if not found:
        return facts
    best = found[0]
    if in_use and best.path.cut is not None and best.path.cut.kind == "frozen" and not _holds(best, in_use):
        return {**facts, **_missing(scene, used), "frozen": best.network}
    return {**facts, **_told(best, scene), "network": best.network}


def _told(best: Reached, scene: Scene) -> Fact:
    cut = best.path.cut
    assert cut is not None
    told: Fact = {**line_told(cut.place, cut.node), "by": cut.kind}
    also = [each.kind for each in best.path.cuts if each.line == cut.line and each.kind != cut.kind]
    if also:
        told["also"] = list(dict.fromkeys(also))
    if cut.kind in _SWITCHES and isinstance(scope := cut.place.scope, Function) and cut.node in scope.decorator_list:
        told |= {"function": scope.name, "at_work": any(each.scope is scope for each in scene.stack)}
    others = {(each.line[1], each.kind) for each in best.path.cuts if each.line != cut.line}
    return {"cut": told, "name": best.path.name, "others": [[line, kind] for line, kind in sorted(others)][:3]}


def _missing(scene: Scene, used: list[Any]) -> Fact:
    """What the optimizer in use trains, and the loss does not use."""
    names = [each.path for each in optimizers(scene.named) if any(each.value is one for one in used)]
    return {"missing": scene.networks(parameters_of_all(used)), "optimizer": names[0] if names else ""}


def _holds(each: Reached, parameters: set[int]) -> bool:
    return any(id(one) in parameters for one in each.parameters)


def _order(each: Reached, in_use: set[int], trained: set[int]) -> tuple[bool, ...]:
    assert each.path.cut is not None
    aside = [bool(wanted) and not _holds(each, wanted) for wanted in (in_use, trained)]
    return not each.network, *aside, each.path.given, not each.path.learned, each.path.cut.kind in _WEAK


class _Follower:
    def __init__(self, stack: list[Place]) -> None:
        self._stack = stack
        self._left = _BUDGET
        self._seen: set[tuple[int, bool, bool]] = set()

    def back(self, place: Place, node: ast.AST, path: Path) -> Iterator[Reached]:
        self._left -= 1
        key = (id(node), bool(path.cuts), path.given)
        if self._left < 0 or path.depth > _DEEP or key in self._seen:
            return
        self._seen.add(key)
        path = replace(path, depth=path.depth + 1)
        if isinstance(node, ast.Call):
            yield from self._call(place, node, path)
        elif isinstance(node, ast.Name | ast.Attribute) and dotted(node):
            yield from self._name(place, node, path)
        elif isinstance(node, ast.Compare):
            yield from self._inside(place, node, self._with(path, "a comparison", place, node))
        elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            yield from self._comprehension(place, node, path)
        elif not isinstance(node, ast.Lambda):
            if isinstance(node, ast.Attribute) and node.attr == "data":
                path = self._with(path, ".data", place, node)
            yield from self._inside(place, node, path)

    def _inside(self, place: Place, node: ast.AST, path: Path) -> Iterator[Reached]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from self.back(place, child, path)
            elif isinstance(child, ast.keyword):
                yield from self.back(place, child.value, path)

    def _with(self, path: Path, kind: str, place: Place, node: ast.AST) -> Path:
        return replace(path, cuts=(*path.cuts, Cut(kind, place, node)), name=path.followed)

    def _under(self, path: Path, place: Place, node: ast.AST) -> Path:
        """As it goes on under the `with torch.no_grad():` or the decorator that a line stands under."""
        switch = graph_switch(place.source, node)
        if switch is None or any(each.node is switch for each in path.cuts):
            return path
        name = dotted(switch.func if isinstance(switch, ast.Call) else switch)
        return self._with(path, name.rpartition(".")[2], place, switch)

    def _comprehension(self, place: Place, node: Any, path: Path) -> Iterator[Reached]:
        yield from self.back(place, node.elt, path)
        for each in node.generators:
            yield from self.back(place, each.iter, path)

    def _call(self, place: Place, node: ast.Call, path: Path) -> Iterator[Reached]:
        name = dotted(node.func).rpartition(".")[2] or (node.func.attr if isinstance(node.func, ast.Attribute) else "")
        if name in _LEARNED:
            path = replace(path, learned=True)
        full = library(place.source, node)
        if full.startswith("numpy.") or (full.startswith("torch.") and name in _COPIES):
            short = dotted(node.func)
            path = self._with(path, f"{short}()", place, node)
        elif isinstance(node.func, ast.Name) and name in ("float", "int") and name not in place.values:
            path = self._with(path, f"{name}()", place, node)
        elif isinstance(node.func, ast.Attribute) and not full and name in _METHODS:
            path = self._with(path, _METHODS[name], place, node)
        value = place.value(node.func) if dotted(node.func) else None
        if isinstance(node.func, ast.Attribute) and is_module(place.value(node.func.value)) and name == "forward":
            value = place.value(node.func.value)
        if is_module(value):
            yield from self._network(place, node, value, path)
            return
        if isinstance(node.func, ast.Attribute) and kind_of(place.value(node.func.value)) == "environment":
            return  # what it answers never had a graph
        callee = called(place, node)
        if callee is not None:
            yield from self._function(callee, path)
            return
        # A method works on what it is called on; the name of a function leads nowhere.
        if isinstance(node.func, ast.Attribute):
            yield from self.back(place, node.func.value, path)
        for given in (*node.args, *(each.value for each in node.keywords)):
            yield from self.back(place, given, path)

    def _function(self, callee: Place, path: Path) -> Iterator[Reached]:
        for node in own_nodes(callee.scope):
            if isinstance(node, ast.Return) and node.value is not None:
                there = Place(callee.source, callee.scope, callee.values, node.lineno, callee.arguments)
                yield from self.back(there, node.value, self._under(path, callee, node))

    def _network(self, place: Place, node: ast.Call, network: Any, path: Path) -> Iterator[Reached]:
        parameters = tuple(network.parameters())
        name = dotted(node.func).removesuffix(".forward")
        before = path
        if parameters and not any(each.requires_grad for each in parameters):
            path = self._with(path, "frozen", *(_freezing(place, name) or (place, node)))
        if not path.cuts:
            forward = place_of_function(getattr(type(network), "forward", None), network)
            if forward is not None:
                yield from self._function(called_with(forward, place, node, bound=True), path)
        if parameters:
            yield Reached(path, name, parameters)
        # It hands the gradient on to what it was given; where that lay in a buffer, it is data.
        if path.cuts or not parameters:
            for given in (*node.args, *(each.value for each in node.keywords)):
                yield from self.back(place, given, replace(before, given=before.given or bool(parameters)))

    def _name(self, place: Place, node: ast.Name | ast.Attribute, path: Path) -> Iterator[Reached]:
        name = dotted(node)
        if isinstance(node, ast.Attribute) and node.attr == "data":
            path = self._with(path, ".data", place, node)
            yield from self.back(place, node.value, path)
            return
        value = place.value(node)
        if is_module(value):
            return
        if is_tensor(value) and value.requires_grad and value.is_leaf:
            yield Reached(path, name, (value,))
            return
        path = replace(path, followed=name)
        if name in place.arguments:
            outer, given = place.arguments[name]
            yield from self.back(outer, given, path)
        elif name in parameters_of(place)[1:] and place.line is not None:
            yield from self._callers(place, name, path)
        yield from self._made(place, name, path)
        if isinstance(node, ast.Attribute) and (owner := place.value(node.value)) is not None and not is_module(owner):
            for each in methods_of(owner):
                yield from self._made(each, f"{first_argument(each)}.{node.attr}", path)
        elif isinstance(node, ast.Attribute) and not isinstance(value, type(None)):
            return
        elif isinstance(node, ast.Attribute):
            yield from self.back(place, node.value, path)

    def _callers(self, place: Place, name: str, path: Path) -> Iterator[Reached]:
        """A method of a buffer is given what it stores by whoever calls it."""
        for outer, call in callers(place, self._stack):
            given = called_with(place, outer, call, bound=True).arguments.get(name)
            if given is None:
                continue
            yield from self.back(outer, given[1], self._under(path, outer, call))

    def _made(self, place: Place, name: str, path: Path) -> Iterator[Reached]:
        binding = latest(place, name)
        made = [(binding.statement, binding.value)] if binding is not None else []
        if not path.given:
            made += [(statement, value) for statement, value in fills(place.scope, name)]  # type: ignore[misc]
        for statement, value in made:
            there = Place(place.source, place.scope, place.values, statement.lineno, place.arguments)
            yield from self.back(there, value, self._under(path, place, statement))


def _freezing(place: Place, name: str) -> tuple[Place, ast.AST] | None:
    """The line that froze a network's parameters: in this function or one around it."""
    around = [place.scope, *(each for each in above(place.source, place.scope) if isinstance(each, Scope))]
    for scope in around:
        found = [node for node in own_nodes(scope) if _freezes(node)]
        # `for p in policy.parameters(): p.requires_grad = False` names it in the loop.
        telling = [each for each in found if name in _around(place, each)]
        if found:
            return place, (telling or found)[-1]
    return None


def _freezes(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_":
        return bool(node.args) and isinstance(node.args[0], ast.Constant) and node.args[0].value is False
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
        off = isinstance(node.value, ast.Constant) and node.value.value is False
        return node.targets[0].attr == "requires_grad" and off
    return False


def _around(place: Place, node: ast.AST) -> str:
    loops = [each for each in above(place.source, node) if isinstance(each, ast.For)][:1]
    return " ".join([ast.unparse(node), *(ast.unparse(each.iter) for each in loops)])
