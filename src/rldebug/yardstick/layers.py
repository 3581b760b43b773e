"""From the shapes of parameters back to layers: perceptrons, convolutions before them, several heads or towers.

Activations, strides and the size of pictures are not in the shapes. A stride is taken to be half of the kernel, as in
nearly all of the small ones, and the size of the picture then follows from the first dense layer. Neither matters much
for what is compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import isqrt, prod

LARGEST_SIDE = 512

Shapes = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Layer:
    weight: tuple[int, ...]  # (out, in), or (out, in, kernel, kernel)
    bias: bool = True
    norm: bool = False  # followed by a LayerNorm
    source: int = -1  # the layer whose result it takes; -1: an input
    side: int = 0  # of the picture that comes in; 0 for a dense layer

    @property
    def width(self) -> int:
        """Numbers that come in."""
        return self.weight[1] * (self.side**2 or 1)

    @property
    def stride(self) -> int:
        return max(1, self.weight[-1] // 2)

    @property
    def work(self) -> int:
        """Multiplications for one row."""
        if not self.side:
            return prod(self.weight)
        return prod(self.weight) * ((self.side - self.weight[-1]) // self.stride + 1) ** 2


@lru_cache(maxsize=64)
def layers_of(shapes: Shapes) -> tuple[Layer, ...]:
    """In order; none where these are the shapes of something else: recurrent networks, attention, embeddings."""
    found: list[Layer] = []
    pictures: list[int] = []  # the convolutions that no dense layer has followed yet
    at = 0
    while at < len(shapes):
        shape, after = shapes[at], shapes[at + 1 :]
        vector = (shape[0],) if shape else ()
        at += 1
        if len(shape) < 2 or (len(shape) == 2 and shape[0] == 1 and after[:1] != ((1,),)):
            continue  # on its own: log_std, log_alpha, a norm of something that is not here
        if len(shape) not in (2, 4) or (len(shape) == 4 and shape[2] != shape[3]) or _something_else(shape, after):
            return ()
        layer = Layer(shape, bias=after[:1] == (vector,))
        at += layer.bias
        if shapes[at : at + 2] == (vector, vector):
            layer, at = replace(layer, norm=len(shape) == 2), at + 2
        if len(shape) == 4:
            if pictures and found[pictures[-1]].weight[0] == shape[1]:
                layer = replace(layer, source=pictures[-1])
            elif pictures:
                return ()
            pictures.append(len(found))
        elif pictures:
            if not _sized(found, pictures, shape[1]):
                return ()
            layer, pictures = replace(layer, source=pictures[-1]), []
        else:
            before = (i for i in reversed(range(len(found))) if not found[i].side and found[i].weight[0] == shape[1])
            layer = replace(layer, source=next(before, -1))
        found.append(layer)
    return () if pictures else tuple(found)


def _something_else(shape: tuple[int, ...], after: Shapes) -> bool:
    """Whether a weight, by what follows it, is that of a recurrent layer, of attention, or of an embedding."""
    if len(shape) != 2 or not after:
        return False
    outs, ins = shape
    if len(after[0]) == 2 and after[0][0] == outs and after[1:3] == ((outs,), (outs,)):
        return True
    if outs == 3 * ins and after[:2] == ((outs,), (ins, ins)):
        return True
    return len(after[0]) >= 2 and after[0][1] != outs


def _sized(found: list[Layer], pictures: list[int], width: int) -> bool:
    """Gives the convolutions the size of their pictures, from the last one back; False where that cannot be."""
    channels = found[pictures[-1]].weight[0]
    side = isqrt(width // channels)
    if side**2 * channels != width:
        return False
    for i in reversed(pictures):
        side = (side - 1) * found[i].stride + found[i].weight[-1]
        found[i] = replace(found[i], side=side)
    return side <= LARGEST_SIDE
