"""Which settings of a program no line of it uses: read off its source, so that nothing is put in the way of its values.

A name counts as used wherever something of that name is read: an attribute, a variable, a key. Handing it on under
the same name (`self.gamma = gamma`, `Agent(gamma=args.gamma)`) and showing it (`print`, an f-string) are no use. So a
setting that is only ever handed on and shown is used by nobody. Where names are made up while the program runs
(`getattr` with a variable, `**vars(args)` into a library) nothing is said.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_SAFE_BASES = frozenset({"object", "ABC", "Module", "Env", "Wrapper", "Generic", "Protocol"})  # read nothing of yours
_READ_BY_LIBRARIES = frozenset({"metadata", "render_mode", "observation_space", "action_space", "spec", "training"})
_SHOWS = frozenset(
    {"print", "pprint", "info", "debug", "warning", "add_text", "add_hparams", "format", "set_description"}
)
_WHOLE = frozenset({"vars", "asdict", "astuple", "_asdict", "to_dict", "model_dump"})
_HOLDERS = frozenset({"SimpleNamespace", "Namespace", "dict", "OrderedDict"})  # attributes of theirs are read by name
_DEFINES = frozenset({"add_argument", "set_defaults", "add_option", "field"})


@dataclass(frozen=True)
class Setting:
    """A number that the program gives a name to."""

    name: str
    value: Any
    where: str  # "dataclass", "class", "constant", "parameter"
    file: str
    line: int
    holder: str = ""  # the class or function


@dataclass
class Usage:
    used: dict[str, int] = field(default_factory=dict)
    shown: dict[str, int] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)  # names that are looked up anywhere: functions among them
    settings: list[Setting] = field(default_factory=list)
    unread_parameters: list[Setting] = field(default_factory=list)
    by_attribute: bool = True  # False: attributes are read by names that are made up at run time
    not_by_attribute: set[str] = field(default_factory=set)  # classes that read their own that way
    by_name: bool = True  # the same of variables
    whole: bool = False  # all of the options are handed to somebody else's code at once

    def reads(self, name: str, where: str, holder: str = "") -> int | None:
        """How often it is used; None where that cannot be told."""
        if holder and holder in self.not_by_attribute:
            return None
        if where in ("constant", "parameter"):
            known = self.by_name
        else:
            known = self.by_name and self.by_attribute and not self.whole
        return self.used.get(name, 0) if known else None


def usage_of(sources: Mapping[str, str]) -> Usage:
    """Of all files of a program together."""
    trees = {}
    for file, source in sources.items():
        try:
            trees[file] = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    found = Usage()
    own = _Definitions(trees.values())
    found.called = {last_name(each) for tree in trees.values() for each in ast.walk(tree) if _is_read(each)}
    for file, tree in trees.items():
        _Reader(file, tree, own, found).read()
    return found


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)


class _Definitions:
    """The program's own functions and classes, by name: which parameters they take by name."""

    def __init__(self, trees: Iterable[ast.Module]) -> None:
        self.takes: dict[str, set[str]] = {}
        self.anything: set[str] = set()  # they have **kwargs
        self.classes: dict[str, list[str]] = {}
        self.methods: dict[str, int] = {}
        self.alike: dict[tuple[str, ...], int] = {}  # functions that take the same: they stand for one another
        for tree in trees:
            for node in ast.walk(tree):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    self._add(node.name, node)
                elif isinstance(node, ast.ClassDef):
                    self._add_class(node)

    def _add(self, name: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        arguments = node.args
        each = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        names = tuple(one.arg for one in each)
        self.takes.setdefault(name, set()).update(names)
        if name == node.name:
            self.alike[names] = self.alike.get(names, 0) + 1
        if arguments.kwarg is not None:
            self.anything.add(name)

    def _add_class(self, node: ast.ClassDef) -> None:
        self.classes[node.name] = [last_name(each) for each in node.bases]
        self.takes.setdefault(node.name, set())
        for part in node.body:
            if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.methods[part.name] = self.methods.get(part.name, 0) + 1
                if part.name in ("__init__", "__new__"):
                    self._add(node.name, part)
            elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                self.takes[node.name].add(part.target.id)

    def hands_on(self, called: str, name: str) -> bool:
        """Whether a call only hands a value on to the program's own code, under the same name."""
        return called in self.takes and called not in self.anything and name in self.takes[called]

    def own(self, bases: Iterable[str], below: frozenset[str] = frozenset()) -> bool:
        """Whether nothing but the program's own code sees the attributes of such a class."""
        return all(
            each in _SAFE_BASES
            # `class Policy(library.Policy)` is called like what it inherits from: that one is not ours
            or (each in self.classes and each not in below and self.own(self.classes[each], below | {each}))
            for each in bases
        )


class _Reader:
    def __init__(self, file: str, tree: ast.Module, own: _Definitions, found: Usage) -> None:
        self.file, self.tree, self.own, self.found = file, tree, own, found
        self.parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self.imported = {
            (each.asname or each.name).partition(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for each in node.names
        }
        self.wholes = {
            target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and self._is_whole(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def read(self) -> None:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._count(node, node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                self._count(node, node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                if self._is_key(node):
                    self._count(node, node.value)
            elif isinstance(node, ast.Call):
                self._called(node)
            elif isinstance(node, ast.AugAssign):
                name = last_name(node.target)
                self.found.used[name] = self.found.used.get(name, 0) + 1
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.found.unread_parameters.extend(self._parameters(node))
            elif isinstance(node, ast.ClassDef):
                self.found.settings.extend(self._fields(node))
        self.found.settings.extend(self._constants())

    def _count(self, node: ast.expr, name: str) -> None:
        kind = "use" if name in _READ_BY_LIBRARIES else self._kind(node, name)
        if kind == "use":
            self.found.used[name] = self.found.used.get(name, 0) + 1
        elif kind == "show":
            self.found.shown[name] = self.found.shown.get(name, 0) + 1

    def _kind(self, node: ast.AST, name: str) -> str:
        parent = self.parents.get(node)
        if isinstance(parent, ast.keyword) and parent.arg == name:
            call = self.parents.get(parent)
            if isinstance(call, ast.Call) and self.own.hands_on(last_name(call.func), name):
                return "hand on"
        if isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is node:
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            if all(self._keeps(each, name) for each in targets):
                return "hand on"
        if isinstance(parent, ast.Tuple):
            above = self.parents.get(parent)
            if isinstance(above, ast.Assign) and above.value is parent and isinstance(above.targets[0], ast.Tuple):
                names, place = above.targets[0].elts, parent.elts.index(node)  # type: ignore[arg-type]
                if len(names) == len(parent.elts) and self._keeps(names[place], name):
                    return "hand on"
        return "show" if self._is_shown(node) else "use"

    def _keeps(self, target: ast.expr, name: str) -> bool:
        """Whether an assignment gives something its own name again, where only this program looks for it."""
        if isinstance(target, ast.Name):
            return target.id == name
        if not isinstance(target, ast.Attribute) or target.attr != name:
            return False
        above = self._around(target)
        return (
            isinstance(target.value, ast.Name)
            and above is not None
            and self.own.own([last_name(each) for each in above.bases])
        )

    def _around(self, node: ast.AST) -> ast.ClassDef | None:
        above: ast.AST | None = node
        while above is not None and not isinstance(above, ast.ClassDef):
            above = self.parents.get(above)
        return above

    def _is_shown(self, node: ast.AST) -> bool:
        above = self.parents.get(node)
        while above is not None and not isinstance(above, ast.stmt):
            if isinstance(above, ast.FormattedValue):
                return True
            if isinstance(above, ast.Call) and node is not above.func and last_name(above.func) in _SHOWS:
                return True
            if isinstance(above, (ast.Lambda, ast.BinOp)) or (isinstance(above, ast.Call) and node is above.func):
                return False  # something is made of it first
            above = self.parents.get(above)
        return False

    def _is_key(self, node: ast.Constant) -> bool:
        """Whether a text may be the name something is read by; not where it names what is being defined."""
        parent = self.parents.get(node)
        if isinstance(parent, ast.Subscript):
            return isinstance(parent.ctx, ast.Load)
        if isinstance(parent, (ast.Dict, ast.Expr)):
            return isinstance(parent, ast.Dict) and node in parent.values
        call = self.parents.get(parent) if isinstance(parent, ast.keyword) else parent
        return not (isinstance(call, ast.Call) and last_name(call.func) in _DEFINES)

    def _is_whole(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr == "__dict__"
        if isinstance(node, ast.Name):
            return node.id in getattr(self, "wholes", ())
        return isinstance(node, ast.Call) and (
            last_name(node.func) in _WHOLE or any(self._is_whole(each) for each in node.args)
        )

    def _called(self, node: ast.Call) -> None:
        name = last_name(node.func)
        if isinstance(node.func, ast.Name) and name in ("eval", "exec", "globals", "locals"):
            self.found.by_name = False
        if isinstance(node.func, ast.Name) and name in ("getattr", "attrgetter", "astuple"):
            named = len(node.args) > 1 and isinstance(node.args[1], ast.Constant)
            of = first_name(node.args[0]) if node.args else ""
            if not named and of == "self" and isinstance(node.args[0], ast.Name):
                self.found.not_by_attribute.add(getattr(self._around(node), "name", ""))
            elif not named and of not in self.imported:
                self.found.by_attribute = False
        for keyword in node.keywords:
            if keyword.arg is None and self._is_whole(keyword.value):
                ours = name in self.own.takes and name not in self.own.anything
                if not ours and name not in _HOLDERS and name not in _SHOWS:
                    self.found.whole = True

    # ── what is given a name ────────────────────────────────────────────────────────────────────────────────────────

    def _constants(self) -> Iterator[Setting]:
        times: dict[str, int] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                times[node.id] = times.get(node.id, 0) + 1
        for node in self.tree.body:
            for name, value in _assigned(node):
                if times.get(name) == 1:
                    yield Setting(name, value, "constant", self.file, node.lineno)

    def _fields(self, node: ast.ClassDef) -> Iterator[Setting]:
        if not self.own.own([last_name(each) for each in node.bases]):
            return
        dataclass = any(last_name(each) in ("dataclass", "define", "frozen") for each in node.decorator_list)
        for part in node.body:
            for name, value in _assigned(part):
                yield Setting(name, value, "dataclass" if dataclass else "class", self.file, part.lineno, node.name)

    def _parameters(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Setting]:
        """Parameters that the body never looks at. Not of methods that others prescribe, nor of empty ones."""
        holder = self.parents.get(node)
        if (
            isinstance(holder, ast.ClassDef)
            and node.name != "__init__"
            and (holder.bases or self.own.methods.get(node.name, 0) > 1)
        ):
            return
        body = [each for each in node.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
        if not body or all(isinstance(each, (ast.Pass, ast.Raise)) for each in body):
            return
        read = {each.id for part in body for each in ast.walk(part) if isinstance(each, ast.Name)}
        if "locals" in read or "vars" in read:
            return
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
        pairs = [
            *zip(positional, defaults, strict=True),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        name = holder.name if isinstance(holder, ast.ClassDef) and node.name == "__init__" else node.name
        if name not in self.found.called or self.own.alike.get(tuple(each.arg for each, _ in pairs), 0) > 1:
            return  # dead code, or one of several that are called alike
        for each, default in pairs:
            if each.arg not in read and each.arg not in ("self", "cls") and not each.arg.startswith("_"):
                value = None if default is None else number_of(default)
                yield Setting(each.arg, value, "parameter", self.file, node.lineno, name)


def _assigned(node: ast.stmt) -> Iterator[tuple[str, float]]:
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        targets, value = [node.target], node.value
    else:
        return
    number = number_of(value)
    for target in targets:
        if isinstance(target, ast.Name) and number is not None:
            yield target.id, number
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, given in zip(target.elts, value.elts, strict=True):
                number = number_of(given)
                if isinstance(one, ast.Name) and number is not None:
                    yield one.id, number


def number_of(node: ast.expr) -> float | None:
    """The number that a constant expression stands for: 0.99, -1, 10 ** 6, 3e-4 * 2."""
    if isinstance(node, ast.Constant):
        value = node.value
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number_of(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp):
        left, right = number_of(node.left), number_of(node.right)
        if left is None or right is None:
            return None
        try:
            if isinstance(node.op, ast.Mult):
                return left * right
            if isinstance(node.op, ast.Div):
                return left / right
            if isinstance(node.op, ast.Pow) and abs(right) < 64 and abs(left) < 1e6:
                value = left**right
                return value if isinstance(value, (int, float)) and math.isfinite(value) else None
        except (ZeroDivisionError, OverflowError):
            return None
    return None


def last_name(node: ast.AST) -> str:
    """`c` of a.b.c, of c(…), and of c[…]."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, (ast.Call, ast.Subscript)):
        return last_name(node.func if isinstance(node, ast.Call) else node.value)
    return ""


def first_name(node: ast.AST) -> str:
    """`a` of a.b.c."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
