"""Marks of all nodes near the loss, from the leaves up; who stands above whom; which layer lies beneath."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from rldebug.capture.loss_forms import (
    averaged_elements,
    chosen_by_mask,
    difference_in,
    is_log_partition,
    squared,
    times_a_mask,
)
from rldebug.capture.loss_mark import (
    MIX,
    NET,
    PICKS,
    Mark,
    bottom,
    clamped,
    exponential,
    gaussian,
    listed,
    moved,
    negated,
    one_of,
    same_action,
    shifted,
)
from rldebug.capture.loss_nodes import LAYERS, VIEWS, Edge, Node, base_name, leaf_of, names, saved, shape_of

_LOOKED_INTO = VIEWS | names(
    "Neg Add Sub Rsub Mul Div Sum Mean Stack Cat Exp Log Pow Abs Clamp ClampMin ClampMax Minimum Maximum "
    "Min Max Where MaskedFill IndexPut Logsumexp Dot Mv MseLoss SmoothL1Loss HuberLoss NllLoss NllLoss2D "
    "BinaryCrossEntropyWithLogits BinaryCrossEntropy KlDiv Xlogy Lgamma LinalgVectorNorm "
    "LinalgSolveTriangular Softplus LogSigmoid Sqrt Digamma"
)
_AROUND_A_SCALE = VIEWS | names("Neg Mul Div Sum Clamp")
_LOGITS = ("net", "leaf", "table", "probs")


class Marks:
    """Marks of the nodes near the loss, who stands above whom, and how many nodes there were."""

    def __init__(self, root: Node, limit: int) -> None:
        self.above: dict[Node, list[tuple[Node, int]]] = {}
        self.cut = False
        self._marks: dict[Node, Mark] = {}
        self._layers: dict[Node, Node | None] = {}
        self._read(root, limit)

    def of(self, node: Node | None) -> Mark | None:
        return None if node is None else self._marks.get(node, NET)

    def all(self) -> Iterable[tuple[Node, Mark]]:
        return self._marks.items()

    def layer_of(self, node: Node | None) -> Node | None:
        """The first layer beneath; None where there is none near."""
        start = node
        if start in self._layers:
            return self._layers[start]
        for _ in range(64):
            if node is None or base_name(node) in LAYERS or base_name(node) == "AccumulateGrad":
                break
            under = [each for each, _ in node.next_functions if each is not None]
            node = next((each for each in under if base_name(each) != "AccumulateGrad"), under[0] if under else None)
        if start is not None:
            self._layers[start] = node
        return node

    def head_of(self, node: Node | None) -> int:
        """Which parameter the first layer beneath gives its gradient to: the same for all steps through one network."""
        layer = self.layer_of(node)
        if layer is None:
            return 0
        leaves = (leaf_of(each) for each, _ in layer.next_functions)
        found = next((each for each in leaves if each is not None), leaf_of(layer))
        return 0 if found is None else id(found)

    def one_step(self, picks: Sequence[tuple[str, Node]]) -> bool:
        """Parts of one action, rather than actions of several steps: from one call of a network, or several heads."""
        first = self.layer_of(picks[0][1])
        for _, node in picks[1:]:
            if self.layer_of(node) is not first and self.head_of(node) == self.head_of(picks[0][1]):
                return False
        return True

    def _read(self, root: Node, limit: int) -> None:
        todo: list[tuple[Node, bool]] = [(root, False)]
        marks, above = self._marks, self.above
        begun: set[Node] = {root}
        while todo:
            node, ready = todo.pop()
            name = base_name(node)
            if ready:
                marks[node] = self._mark(node, name, node.next_functions)
                continue
            if node in marks:
                continue
            if name not in _LOOKED_INTO and not (name in ("Mm", "Bmm") and math.prod(shape_of(node)) == 1):
                marks[node] = bottom(node, name)
                continue
            if len(begun) > limit:
                self.cut = True
                marks[node] = NET
                continue
            todo.append((node, True))
            for place, (each, _) in enumerate(node.next_functions):
                if each is not None:
                    above.setdefault(each, []).append((node, place))
                    if each not in marks:  # once more, where it waits already: what stands on it comes after it
                        begun.add(each)
                        todo.append((each, False))

    def _mark(self, node: Node, name: str, under: tuple[Edge, ...]) -> Mark:
        kids = [self.of(each) for each, _ in under]
        first = kids[0] if kids else None
        if name in VIEWS:
            return moved(node, name, first)
        if name == "Neg" and first is not None:
            return negated(node, first)
        if name in ("Add", "Sub", "Rsub"):
            return self._added(node, name, under, kids)
        if name in ("Mul", "Div"):
            return self._multiplied(node, name, under, kids)
        if name in ("Sum", "Mean"):
            return self._summed(node, first)
        if name in ("Stack", "Cat"):
            return listed(kids)
        return _applied(node, name, kids, self)

    def _added(self, node: Node, name: str, under: tuple[Edge, ...], kids: list[Mark | None]) -> Mark:
        one, two = kids[0], kids[1] if len(kids) > 1 else None
        if name == "Rsub" and one is not None:
            one = one.but(sign=-one.sign)
        if name == "Sub" and two is not None:
            two = two.but(sign=-two.sign)
        if one is None or two is None:
            return shifted(node, one or two or NET)
        if name == "Sub" and one.tag in _LOGITS and is_log_partition(under[1][0], under[0][0]):
            zeroed = times_a_mask(under[0][0])
            twice, inner = (True, one.of) if one.tag == "probs" else (one.twice, one.inner)
            return Mark("table", of=node, twice=twice, inner=inner, zeroed=zeroed)
        tags = {one.tag, two.tag}
        if tags <= {"net", "leaf"}:
            return NET
        for here, there, beside in ((one, two, under[1][0]), (two, one, under[0][0])):
            if here.tag == "logp" and there.tag == "logp":
                together = here.picks + there.picks
                same = here.sign == there.sign and len(together) <= PICKS and self.one_step(together)
                odd = here.reparameterised or there.reparameterised
                return here.but(picks=together, reparameterised=odd, of=node) if same else MIX
            if here.tag in ("logp", "square") and (there.tag == "log" or self.is_log_of_scale(beside)):
                # The log of the scale: taken here, or straight from a network or a parameter.
                return here.but(of=node) if here.tag == "logp" else gaussian(node, here, scaled=True)
            if here.tag == "ratio" and there.tag == "logp" and here.clip is None and same_action(here, there):
                return Mark("kl", of=node)
            if here.tag == "entropy" and there.tag in ("entropy", "log") and here.sign == there.sign:
                parts = [("", each.of) for each in (here, there) if each.of is not None]
                several = there.tag == "entropy" and len(parts) == 2 and not self.one_step(parts)
                return MIX if several else here.but(of=node)  # of several steps: added up by hand
            if here.tag == "log" and there.tag in ("log", "net", "leaf"):
                return Mark("log", sign=here.sign, of=node) if there.tag == "log" else MIX
        return MIX

    def is_log_of_scale(self, node: Node | None) -> bool:
        """What is added here is exponentiated elsewhere."""
        for _ in range(12):
            if node is None or (self.of(node) or NET).tag in ("logp", "table"):
                return False  # log-probs, which an entropy exponentiates
            if self._is_exponentiated(node, 3):
                return True
            attached = [each for each, _ in node.next_functions if each is not None]
            if len(attached) != 1 or base_name(node) not in _AROUND_A_SCALE | {"Add", "Sub"}:
                return False
            node = attached[0]
        return False

    def _is_exponentiated(self, node: Node, deep: int) -> bool:
        for each, _ in self.above.get(node, ()):
            name = base_name(each)
            if name == "Exp" or (deep and name in _AROUND_A_SCALE and self._is_exponentiated(each, deep - 1)):
                return True
        return False

    def _multiplied(self, node: Node, name: str, under: tuple[Edge, ...], kids: list[Mark | None]) -> Mark:
        one, two = kids[0], kids[1] if len(kids) > 1 else None
        if one is not None and two is not None:
            if name == "Mul" and (factor := squared(node)) is not None:
                return _square(node, self, factor.node, factor.number)
            tags = {one.tag, two.tag}
            if name == "Mul" and tags == {"probs", "table"}:
                table = one if one.tag == "table" else two
                return Mark("kl" if table.shifted else "plogp", sign=one.sign * two.sign, of=node)
            if name == "Div" and one.tag == "probs" and base_name(under[1][0]) == "Sum":
                return one  # normalised once more
            if one.tag == "square" and two.tag in ("net", "leaf", "square", "l2"):
                return one.but(scaled=True, of=node)
            if two.tag == "square" and one.tag in ("net", "leaf") and name == "Mul":
                return two.but(scaled=True, of=node)
            return NET if tags <= {"net", "leaf", "log", "square", "table", "probs", "l2"} else MIX
        here = one or two or NET
        if here.tag in ("leaf", "mix"):
            return here
        number = saved(node, "other" if one is not None else "self")
        if not isinstance(number, Tensor):
            number = None if number is None else torch.as_tensor(float(number))
        if number is None:
            return NET if here.tag == "net" else MIX
        if name == "Div" and one is None:
            return NET  # something divided by this: 1/x
        if here.tag == "prob" and name == "Div":
            return here.but(tag="ratio", of=node)
        if number.numel() == 1:
            if here.tag == "net":
                return here
            return negated(node, here) if number.item() < 0 else here
        if here.tag == "probs" and name == "Mul" and _is_mask(number):
            return here  # of actions that are not allowed, or but the one that was taken
        if here.tag == "table":
            return Mark("soft", sign=here.sign, shifted=here.shifted, of=node)
        if here.tag in ("square", "log", "net"):
            return here  # a variance that is data, or weights
        return MIX

    def _summed(self, node: Node, first: Mark | None) -> Mark:
        if first is None:
            return NET
        if first.tag == "plogp":
            return Mark("entropy", sign=-first.sign, of=node)
        if first.tag == "soft":
            if chosen_by_mask(node):
                return Mark("logp", picks=(("mask", node.next_functions[0][0]),), of=node)
            return Mark("kl" if first.shifted else "softsum", sign=first.sign, of=node)
        if first.tag == "logp" and base_name(node) == "Mean":
            first = first.but(averaged=averaged_elements(node))
        if first.tag == "logp" and base_name(node.next_functions[0][0]) == "Stack" and len(first.picks) > 1:
            return first if self.one_step(first.picks) else MIX
        if first.tag == "probs":
            product = node.next_functions[0][0]
            masked = base_name(product) == "Mul" and None in [each for each, _ in product.next_functions]
            if masked and chosen_by_mask(node):
                return Mark("prob", picks=(("mask", product),), of=node)
        if first.tag in ("table", "probs"):
            return NET
        return first


def _is_mask(number: Tensor) -> bool:
    return number.dim() > 0 and number.shape[-1] > 1 and bool(((number == 0) | (number == 1)).all())


def _square(node: Node, marks: Marks, base: Node | None, number: float = 1.0) -> Mark:
    inner = marks.of(base)
    if inner is not None and inner.tag == "logp":
        return Mark("kl", of=node)  # half the square of a log-ratio
    difference, scaled = difference_in(base)
    if difference is None:
        return Mark("l2") if inner is not None and inner.tag == "leaf" else NET
    if _is_of_a_policy(difference, marks):
        return Mark("penalty", of=node)
    both = len(difference.next_functions) > 1 and all(each is not None for each, _ in difference.next_functions)
    sign = 1.0 if number > 0 else -1.0
    return Mark("square", sign, (("normal", node),), scaled=scaled, reparameterised=both, of=node)


def _is_of_a_policy(difference: Node, marks: Marks) -> bool:
    """(ratio − 1)², (entropy − target)²: a distance, and yet no regression."""
    tags = {(marks.of(each) or NET).tag for each, _ in difference.next_functions}
    return bool(tags & {"logp", "ratio", "prob", "table", "probs", "entropy", "kl"})


def _applied(node: Node, name: str, kids: list[Mark | None], marks: Marks) -> Mark:
    first = kids[0] if kids else None
    if name == "Pow":
        return _square(node, marks, node.next_functions[0][0]) if saved(node, "exponent") == 2 else NET
    if name in ("Abs", "LinalgVectorNorm"):
        difference = difference_in(node.next_functions[0][0])[0]
        if difference is None:
            return NET
        return Mark("penalty" if _is_of_a_policy(difference, marks) else "abs", of=node)
    if name in ("MseLoss", "SmoothL1Loss", "HuberLoss"):
        return Mark("huber", of=node)
    if name in ("NllLoss", "NllLoss2D"):
        return Mark("logp", sign=-1.0, picks=(("categorical", node),), of=node)
    if name in ("BinaryCrossEntropyWithLogits", "BinaryCrossEntropy"):
        return Mark("logp", sign=-1.0, picks=(("bernoulli", node),), of=node)
    if name == "Xlogy":
        return Mark("logp", picks=(("beta", node),), reparameterised=None not in kids, of=node)
    if name in ("Lgamma", "Digamma"):
        return Mark("log", of=node)
    if first is None and not (name in ("Minimum", "Maximum", "Where", "IndexPut") and any(kids)):
        return NET
    if name in ("Clamp", "ClampMin", "ClampMax"):
        return clamped(node, name, first or NET)
    if name == "Exp":
        return exponential(node, first or NET)
    if name == "Log":
        known = {"probs": "table", "prob": "logp", "ratio": "logp"}.get((first or NET).tag)
        return (first or NET).but(tag=known, of=node, clip=None) if known else Mark("log", of=node)
    if name in ("Where", "Minimum", "Maximum", "MaskedFill", "IndexPut"):
        return one_of(node, name, kids)
    known_ones = {each.tag for each in kids if each is not None} - {"net", "leaf", "log", "l2"}
    if name in ("Mm", "Bmm", "Dot", "Mv"):
        return MIX if known_ones else NET
    return Mark("opaque", of=node) if known_ones else NET
