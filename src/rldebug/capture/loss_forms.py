"""Small forms that a loss may take: something squared, something subtracted, an action picked out of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from rldebug.capture.loss_nodes import VIEWS, Node, base_name, dimension, dimensions, saved, shape_of


@dataclass(frozen=True, slots=True)
class Squared:
    node: Node
    output: int
    number: float  # that the square is multiplied by


def squared(node: Node) -> Squared | None:
    """What is squared here: x**2, x·x, −½·x·x, (a − b)·(a − b)."""
    under = node.next_functions
    if base_name(node) == "Pow":
        return Squared(under[0][0], under[0][1], 1.0) if saved(node, "exponent") == 2 else None
    if base_name(node) != "Mul" or len(under) < 2 or under[0][0] is None or under[1][0] is None:
        return None
    if under[0] == under[1] or _written_twice(under[0][0], under[1][0]):
        return Squared(under[0][0], under[0][1], 1.0)
    bare = [_without_numbers(*each) for each in under]
    if bare[0][:2] != bare[1][:2]:
        return None
    return Squared(bare[0][0], bare[0][1], bare[0][2] * bare[1][2])


def _without_numbers(node: Node, output: int) -> tuple[Node, int, float]:
    number = 1.0
    for _ in range(4):
        name = base_name(node)
        under = node.next_functions
        attached = [place for place, (each, _) in enumerate(under) if each is not None]
        if name == "Neg":
            number = -number
        elif name == "Mul" and len(attached) == 1:
            other = saved(node, "other" if attached[0] == 0 else "self")
            if not isinstance(other, Tensor) or other.numel() != 1:
                break
            number *= other.item()
        else:
            break
        node, output = under[attached[0]]
    return node, output, number


def _written_twice(one: Node, two: Node) -> bool:
    """(a − b)·(a − b), with the difference written out both times."""
    if base_name(one) != base_name(two) or base_name(one) not in ("Add", "Sub", "Rsub"):
        return False
    return bool(one.next_functions == two.next_functions)


def difference_in(base: Node | None) -> tuple[Node | None, bool]:
    """The subtraction beneath what is squared, and whether it was divided by something that is learned."""
    scaled = False
    for _ in range(16):
        if base is None:
            return None, scaled
        name = base_name(base)
        if name in ("Sub", "Add", "Rsub"):
            return base, scaled
        under = base.next_functions
        if name in VIEWS or name in ("Neg", "Clamp", "LinalgVectorNorm"):
            base = under[0][0]
        elif name in ("Mul", "Div"):
            attached = [each for each, _ in under if each is not None]
            scaled = scaled or len(attached) > 1
            inner = [each for each in attached if base_name(each) in ("Sub", "Add", "Rsub")]
            base = inner[0] if inner else attached[0]
        elif name == "LinalgSolveTriangular":
            base, scaled = under[1][0] or under[0][0], True
        else:
            return None, scaled
    return None, scaled


def chosen_by_mask(node: Node) -> bool:
    """Log-probs of all actions times a row of zeros with a single one, summed: the log-prob of that action."""
    product = node.next_functions[0][0]
    under = product.next_functions
    chosen = saved(product, "other" if under[0][0] is not None else "self")
    dims = dimensions(saved(node, "dim"))
    whole = shape_of(product)
    if not isinstance(chosen, Tensor) or not chosen.dim() or chosen.shape[-1] < 2:
        return False
    return len(dims) == 1 and dims[0] % len(whole) == len(whole) - 1 and is_one_hot(chosen)


def is_one_hot(chosen: Tensor) -> bool:
    return bool(((chosen == 0) | (chosen == 1)).all() & (chosen.sum(-1) == 1).all())


def averaged_elements(node: Node) -> int:
    """How many elements of each row a mean over the last axis alone goes over; 0 of any other."""
    inner, dims = shape_of(*node.next_functions[0]), dimensions(saved(node, "dim"))
    one = len(inner) > 1 and len(dims) == 1 and dims[0] % len(inner) == len(inner) - 1
    return inner[-1] if one and inner[-1] > 1 else 0


def picks_an_action(node: Node, name: str) -> bool:
    whole = shape_of(node.next_functions[0][0], node.next_functions[0][1])
    if name in ("Gather", "TakeAlongDim"):
        return True
    if name == "Select":
        return dimension(saved(node, "dim") or 0) % max(len(whole), 1) == len(whole) - 1
    if name == "Index":
        indices = saved(node, "indices")
        return indices is not None and len(indices) == len(whole) and indices[-1] is not None
    return False


def over_rows(node: Node) -> bool:
    """A softmax over the first of two axes."""
    shape, dim = shape_of(node), saved(node, "dim")
    return len(shape) == 2 and min(shape) > 1 and dim is not None and dimension(dim) % 2 == 0


def picks_in_rows(node: Node, name: str) -> bool:
    """One number out of each row of a table is picked: its second axis is that of the actions."""
    if name in ("Gather", "TakeAlongDim"):
        return dimension(saved(node, "dim")) % 2 == 1
    indices = saved(node, "indices") if name == "Index" else None
    if indices is None or len(indices) != 2 or not isinstance(indices[0], Tensor):
        return False
    rows = indices[0].reshape(-1)
    return rows.numel() > 1 and bool((rows[1:] - rows[:-1] == 1).all())


def is_log_partition(node: Node | None, logits: Node | None) -> bool:
    """logsumexp(logits), or log(sum(exp(logits)))."""
    if node is None:
        return False
    if base_name(node) == "Logsumexp":
        return True
    for name in ("Log", "Sum", "Exp"):
        while node is not None and base_name(node) in VIEWS:
            node = node.next_functions[0][0]
        if node is None or base_name(node) != name:
            return False
        node = node.next_functions[0][0]
    return node is logits


def times_a_mask(node: Node | None) -> bool:
    """Scores of which some were multiplied by 0, the others by 1."""
    while node is not None and base_name(node) in VIEWS:
        node = node.next_functions[0][0]
    if node is None or base_name(node) != "Mul":
        return False
    under = [each for each, _ in node.next_functions]
    if under.count(None) != 1:
        return False
    mask = saved(node, "self" if under[0] is None else "other")
    if not isinstance(mask, Tensor) or mask.dim() == 0 or mask.shape[-1] < 2 or not mask.numel():
        return False
    ones = mask != 0
    return bool((~ones).any()) and bool(((mask == 1) | ~ones).all()) and bool((ones.sum(-1) > 1).any())


def number_of(bound: Any) -> float | None:
    """A bound that is one number; of bounds that differ by row, none is told."""
    if isinstance(bound, Tensor):
        return (
            float(bound.flatten()[0].item())
            if bound.numel() > 0 and bool((bound == bound.flatten()[0]).all())
            else None
        )
    return None if bound is None else float(bound)
