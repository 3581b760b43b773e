"""The height and width of images are exchanged on the way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import computed_from, meant
from rldebug.syntax.kinds import class_kind, kind
from rldebug.syntax.names import constant, library, method, receiver
from rldebug.syntax.places import calls, class_of, function_of

_CONVOLUTIONS = frozenset({"Conv2d", "LazyConv2d", "conv2d"})
_ORDERS = {(0, 3, 2, 1): "(0, 3, 1, 2)", (2, 1, 0): "(2, 0, 1)"}


@dataclass(frozen=True, kw_only=True)
class ImageAxesMirrored(Rule):
    """The height and width of images are exchanged on the way.

    ## What it checks
    `x.transpose(1, 3)` of a batch of images on their way into a convolution, `permute(0, 3, 2, 1)`,
    `np.transpose(x, (2, 1, 0))`: channels come to the front, and height and width change places. Read from the
    source.

    ## Why it matters
    With square images nothing fails. The network sees every picture mirrored along its diagonal; where another part
    of the program moves the axes the right way, the two no longer fit each other.

    ## Likely causes
    1. `permute(0, 3, 1, 2)` was meant. Confirm: show one image as the network gets it.

    ## What to try first
    `x.permute(0, 3, 1, 2)`, or `np.transpose(x, (2, 0, 1))`.

    ## When it is fine
    Where all parts of the program do the same, which costs nothing, and where the environment gives width before
    height.

    ## References
    PRE-01 of bench/bugs.
    """

    code: ClassVar[str] = "PRE604"
    name: ClassVar[str] = "image-axes-mirrored"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        if not any(library(evidence, call).rpartition(".")[2] in _CONVOLUTIONS for call in calls(evidence)):
            return
        for call in calls(evidence):
            right = _mirrors(evidence, call)
            if right and _of_observation(evidence, call):
                yield self.finding(
                    "the images also get height and width exchanged: they are mirrored along their diagonal",
                    where=evidence.at(call),
                    seen=evidence.quoted(call),
                    expected=right,
                    help=right,
                    confidence=0.75,
                )


def _mirrors(source: Source, call: ast.Call) -> str:
    """How the line should read, where it exchanges the first and last axis of an image."""
    package, _, last = library(source, call).rpartition(".")
    of_library = package in ("numpy", "torch")
    subject = (call.args[0] if call.args else None) if of_library else receiver(call)
    given = call.args[1:] if of_library else call.args
    if subject is None or (package and not of_library):
        return ""
    axes = given[0].elts if len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List) else given
    numbers = tuple(int(value) for each in axes if isinstance(value := constant(each), int))
    name = source.quoted(subject)
    if (last or method(call)) in ("permute", "transpose", "moveaxis") and numbers in _ORDERS:
        return f"{name} with the axes {_ORDERS[numbers]}"
    swaps = {"transpose", "swapaxes"} if package != "numpy" else {"swapaxes"}
    if (last or method(call)) in swaps and set(numbers) in ({1, 3}, {1, -1}) and len(numbers) == 2:
        return f"{name}.permute(0, 3, 1, 2)"
    return ""


def _of_observation(source: Source, call: ast.Call) -> bool:
    """Whether what is turned goes into a convolution, or comes out of an environment's wrapper."""
    owner, function = class_of(source, call), function_of(source, call)
    if owner is not None and class_kind(source, owner) == "env" and function is not None:
        return function.name == "observation"
    for each in calls(source):
        asks = kind(source, each.func) == "module"
        if asks and any(one is call for value in each.args for one in computed_from(source, value)):
            return _convolves(source, each.func)
    return False


def _convolves(source: Source, net: ast.expr) -> bool:
    """Whether a network begins with a convolution."""
    made = meant(source, net)
    if library(source, made) == "torch.nn.Sequential" and isinstance(made, ast.Call) and made.args:
        made = made.args[0]
    return library(source, made).rpartition(".")[2] in _CONVOLUTIONS
