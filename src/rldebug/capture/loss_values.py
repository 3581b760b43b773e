"""The numbers behind the nodes of a graph, and what lies beneath them.

A node saves what its derivative needs and no more: a difference saves neither side, a linear layer not its result.
What is missing is worked out from what is there: what a node above saved of its inputs, or the operation done again on
what the node saved (one small matrix product at most; never a module of the program).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from rldebug.capture.loss_nodes import (
    VIEWS,
    Edge,
    Node,
    apply_view,
    base_name,
    dimension,
    dimensions,
    leaf_of,
    names,
    saved,
    shape_of,
)

# Where a layer keeps its input: which edge it came by, and the name it is saved under.
LAYER_INPUT = {
    "Addmm": (1, "mat1"),
    "Mm": (0, "self"),
    "Bmm": (0, "self"),
    "Baddbmm": (1, "batch1"),
    "Convolution": (0, "input"),
    "CudnnConvolution": (0, "self"),
    "Embedding": (None, "indices"),
    "EmbeddingBag": (None, "indices"),
    "NativeLayerNorm": (0, "input"),
    "NativeBatchNorm": (0, "input"),
    "NativeGroupNorm": (0, "input"),
    "CudnnRnn": (0, "input"),
    "MkldnnRnnLayer": (0, "input"),
    "Linear": (0, "input"),
}
# Nodes that keep their own result.
_RESULT = {
    **dict.fromkeys(
        names("Exp Tanh Sigmoid Softmax LogSoftmax Relu Sqrt Rsqrt Reciprocal Logsumexp Std Norm"),
        "result",
    ),
    "LinalgVectorNorm": "result",
    "LinalgSolveTriangular": "result",
}
# Nodes that keep their inputs, in the order of their edges.
_KEEPS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        names("Pow Log Log1P Log2 Log10 Abs Clamp ClampMin ClampMax Logsumexp LinalgVectorNorm"),
        ("self",),
    ),
    **dict.fromkeys(names("Gather NllLoss NllLoss2D Softplus Lgamma LogSigmoid Prod"), ("self",)),
    **dict.fromkeys(names("Mul Div Minimum Maximum Xlogy"), ("self", "other")),
    **dict.fromkeys(names("MseLoss SmoothL1Loss HuberLoss BinaryCrossEntropyWithLogits KlDiv"), ("self", "target")),
    "BinaryCrossEntropy": ("self", "target"),
    "Dot": ("self", "tensor"),
    "Mv": ("self", "vec"),
    "Bmm": ("self", "mat2"),
    "Mm": ("self", "mat2"),
}
_PRODUCT = 1 << 26  # multiplications that may be done again for one layer
_DEEP = 48  # operations that may be done again for one value


class Values:
    """Numbers behind the nodes of one graph, worked out when asked for. Lives as long as one walk."""

    def __init__(self, above: dict[Node, list[tuple[Node, int]]]) -> None:
        self._above = above
        self._known: dict[tuple[Node, int, bool], Tensor | None] = {}

    def of(self, node: Node | None, output: int = 0, *, loose: bool = False) -> Tensor | None:
        """The value; None where it cannot be had. Loose: up to constants that were added and are kept nowhere."""
        return self._of(node, output, loose, _DEEP)

    def _of(self, node: Node | None, output: int, loose: bool, deep: int) -> Tensor | None:
        if node is None or deep <= 0:
            return None
        key = (node, output, loose)
        if key not in self._known:
            self._known[key] = None
            try:
                self._known[key] = self._read(node, output, loose, deep)
            except Exception:  # a kind or a shape that was not thought of: unknown
                pass
        return self._known[key]

    def _read(self, node: Node, output: int, loose: bool, deep: int) -> Tensor | None:
        name = base_name(node)
        if name == "AccumulateGrad":
            variable: Tensor = node.variable
            return variable
        if name in _RESULT:
            found = saved(node, _RESULT[name])
            if isinstance(found, Tensor):
                return found
        for parent, place in self._above.get(node, ()):
            keeps = _KEEPS.get(base_name(parent), ())
            if place < len(keeps) and parent.next_functions[place][1] == output:
                found = saved(parent, keeps[place])
                if isinstance(found, Tensor) and tuple(found.shape) == shape_of(node, output):
                    return found
        return self._again(node, name, output, loose, deep - 1)

    def _again(self, node: Node, name: str, output: int, loose: bool, deep: int) -> Tensor | None:
        under = node.next_functions

        def kid(place: int) -> Tensor | None:
            return self._of(under[place][0], under[place][1], loose, deep)

        if name in VIEWS:
            value = kid(0)
            return None if value is None else apply_view(node, output, value)
        if name == "Neg":
            value = kid(0)
            return None if value is None else -value
        if name in ("Add", "Sub", "Rsub"):
            return self._added(node, name, loose, deep)
        if name in ("Mul", "Div"):
            left, right = self.factors(node, loose=loose, deep=deep)
            if left is None or right is None:
                return None
            product: Tensor = left * right if name == "Mul" else left / right
            return product
        if name == "Addmm":
            return self._product(node, 1, 2, "mat1", "mat2", kid(0), deep)
        if name == "Baddbmm":
            return self._product(node, 1, 2, "batch1", "batch2", kid(0), deep)
        if name in ("Mm", "Bmm"):
            return self._product(node, 0, 1, "self", "mat2", None, deep)
        if name in ("Sum", "Mean"):
            value = kid(0)
            if value is None:
                return None
            dims = dimensions(saved(node, "dim"))
            if not dims:
                return value.sum() if name == "Sum" else value.mean()
            keep = bool(saved(node, "keepdim"))
            return value.sum(dims, keep) if name == "Sum" else value.mean(dims, keep)
        if name in ("Max", "Min") and (found := saved(node, "indices")) is not None:
            value, dim = kid(0), dimension(saved(node, "dim"))
            if value is None:
                return None
            keep = bool(saved(node, "keepdim"))
            taken = value.gather(dim, found if keep else found.unsqueeze(dim))
            return taken if keep else taken.squeeze(dim)
        if name in ("Minimum", "Maximum"):
            left, right = saved(node, "self"), saved(node, "other")
            return torch.minimum(left, right) if name == "Minimum" else torch.maximum(left, right)
        if name in ("Stack", "Cat"):
            parts = [self._of(each, place, loose, deep) for each, place in under]
            known = [each for each in parts if each is not None]
            if len(known) < len(parts):
                return None
            return (torch.stack if name == "Stack" else torch.cat)(known, dimension(saved(node, "dim")))
        value = kid(0) if under else None
        if value is None:
            return None
        simple: dict[str, Callable[[Tensor], Tensor]] = {
            "Log": torch.log,
            "Abs": torch.abs,
            "Exp": torch.exp,
            "Tanh": torch.tanh,
            "Relu": torch.relu,
            "Sigmoid": torch.sigmoid,
            "Softplus": torch.nn.functional.softplus,
        }
        if name in simple:
            return simple[name](value)
        if name == "Pow" and isinstance(power := saved(node, "exponent"), (int, float)):
            return value**power
        if name == "Clamp":
            return torch.clamp(value, saved(node, "min"), saved(node, "max"))
        if name == "MaskedFill" and loose:
            return value.masked_fill(saved(node, "mask"), 0.0)  # what was filled in is kept nowhere
        return None

    def _added(self, node: Node, name: str, loose: bool, deep: int) -> Tensor | None:
        under = node.next_functions
        alpha = saved(node, "alpha")
        alpha = 1 if alpha is None else alpha
        signs = {"Add": (1, alpha), "Sub": (1, -alpha), "Rsub": (-alpha, 1)}[name]
        total: Tensor | None = None
        for place in range(2):
            each, output = under[place] if place < len(under) else (None, 0)
            if each is None:
                if not loose:
                    return None
                continue
            value = self._of(each, output, loose, deep)
            if value is None:
                return None
            value = value if signs[place] == 1 else value * signs[place]
            total = value if total is None else total + value
        if total is not None and loose and tuple(total.shape) != shape_of(node):
            total = total.expand(shape_of(node))
        return total

    def factors(self, node: Node, *, loose: bool = False, deep: int = _DEEP) -> tuple[Any, Any]:
        """Both sides of a product or a quotient: each is kept where the other needs a gradient."""
        under = node.next_functions
        left, right = saved(node, "self"), saved(node, "other")
        if left is None and under[0][0] is not None:
            left = self._of(under[0][0], under[0][1], loose, deep)
        if right is None and len(under) > 1 and under[1][0] is not None:
            right = self._of(under[1][0], under[1][1], loose, deep)
        return left, right

    def _product(
        self, node: Node, one: int, two: int, first: str, second: str, added: Tensor | None, deep: int
    ) -> Tensor | None:
        under = node.next_functions
        sides = []
        for place, name in ((one, first), (two, second)):
            value = saved(node, name)
            sides.append(value if value is not None else self._of(under[place][0], under[place][1], False, deep))
        left, right = sides
        if left is None or right is None or left.numel() * right.shape[-1] > _PRODUCT:
            return None
        if torch.is_autocast_enabled(left.device.type):  # the same precision as then, not that of now
            with torch.autocast(left.device.type, enabled=False):
                product = left @ right
        else:
            product = left @ right
        if len(under) < 3:
            return product
        if added is None or saved(node, "alpha") != 1 or saved(node, "beta") != 1:
            return None
        return product + added


class Reach:
    """What lies beneath some nodes: leaves, and the data that the first layers took in."""

    def __init__(self) -> None:
        self.seen: set[Node] = set()
        self.parameters: set[int] = set()
        self.plain: set[int] = set()  # those of them that are tensors and no more: no module lists them
        self.inputs: list[Tensor] = []
        self.through = False  # an output of one network is put beside data and given to the next
        self.cut = False

    def below(self, node: Node | None, limit: int) -> list[Tensor]:
        """Walk on from here; the inputs that were not met before."""
        if node is None or node in self.seen:
            return []
        found: list[Tensor] = []
        self.seen.add(node)
        todo = [node]
        while todo:
            if len(self.seen) > limit:
                self.cut = True
                break
            each = todo.pop()
            name = base_name(each)
            if name == "AccumulateGrad":
                leaf = each.variable
                self.parameters.add(id(leaf))
                if not isinstance(leaf, torch.nn.Parameter):
                    self.plain.add(id(leaf))
                continue
            under = each.next_functions
            if name == "Cat" and len({following is None for following, _ in under}) == 2:
                self.through = True
            if name in LAYER_INPUT or name == "Index":
                given = _input_of(each, name, under)
                if given is not None:
                    found.append(given)
            for following, _ in reversed(under):  # so that what was written first comes first
                if following is not None and following not in self.seen:
                    self.seen.add(following)
                    todo.append(following)
        self.inputs += found
        return found


def _input_of(node: Node, name: str, under: tuple[Edge, ...]) -> Tensor | None:
    if name == "Index":  # a table with a row per state
        if leaf_of(under[0][0]) is None:
            return None
        indices = saved(node, "indices")
        return indices[0].detach() if indices and isinstance(indices[0], Tensor) else None
    place, attribute = LAYER_INPUT[name]
    if place is not None and (place >= len(under) or under[place][0] is not None):
        return None
    given = saved(node, attribute)
    return given.detach() if isinstance(given, Tensor) else None
