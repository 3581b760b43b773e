"""Nodes of an autograd graph, read but never run: names, shapes, what they saved, where they were written."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Node = Any  # torch.autograd.graph.Node; the ones made by C++ share no Python base with useful attributes
Edge = tuple[Node | None, int]


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


LAYERS = names(
    "Addmm Mm Bmm Baddbmm Convolution ConvolutionOverrideable MkldnnConvolution CudnnConvolution "
    "Embedding EmbeddingBag NativeLayerNorm NativeBatchNorm NativeGroupNorm CudnnBatchNorm FusedRmsNorm "
    "CudnnRnn MkldnnRnnLayer Linear MkldnnLinear ThnnFusedLstmCell ThnnFusedGruCell"
)
_RESHAPES = names("View UnsafeView ReshapeAlias Squeeze Unsqueeze Unflatten")
_SAME = names("Clone ToCopy Alias Contiguous LiftFresh Detach")
VIEWS = _RESHAPES | _SAME | names("Expand T Transpose Permute Slice Select Index Gather Flip Unbind Split")
VIEWS |= names("SplitWithSizes UnsafeSplit UnsafeSplitWithSizes Repeat IndexSelect TakeAlongDim MaskedSelect")


_OURS = tuple(os.path.dirname(os.path.abspath(each)) + os.sep for each in (torch.__file__, os.path.dirname(__file__)))
_FRAME = re.compile(r'File "(.*?)", line (\d+)')

_names: dict[type, str] = {}
_shapes: dict[tuple[Node, int], tuple[int, ...]] = {}  # of one walk
_entered = False  # saved-tensor hooks have been in force at some time
_watched = False  # and we would know


def base_name(node: Node) -> str:
    """`Mul` for MulBackward0. A function of the program's own keeps its whole name: it may call itself anything."""
    kind = type(node)
    name = _names.get(kind)
    if name is None:
        whole = kind.__name__
        name = re.sub(r"Backward\d+$", "", whole)
        if name == whole and whole != "AccumulateGrad":
            name = f"own:{whole}"
        _names[kind] = name
    return name


def watch_saved_hooks(replace: Callable[[Any, str, Callable[[Any], Any]], None]) -> None:
    """Reading what was saved under hooks runs them: activation checkpointing would run the forward pass again."""
    global _watched

    def make(enter: Any) -> Any:
        def __enter__(self: Any) -> Any:
            global _entered
            _entered = True
            return enter(self)

        return __enter__

    replace(torch.autograd.graph.saved_tensors_hooks, "__enter__", make)
    _watched = True


def saved(node: Node, name: str) -> Any:
    """What a node saved under this name; None where it did not, or where reading would run something or raise.

    A tensor still belongs to the graph: what is kept must be a copy of its numbers, or detached.
    """
    try:
        if _entered or not _watched:
            raw = getattr(node, f"_raw_saved_{name}", None)
            for each in raw if isinstance(raw, tuple) else (raw,):
                if each is not None and each.unpack_hook is not None:  # absent in old versions: raises, not read
                    return None
        return getattr(node, f"_saved_{name}", None)
    except Exception:  # freed by an earlier backward, or changed in place
        return None


def dimension(number: Any) -> int:
    """Dimensions come as unsigned 64-bit numbers: −1 is 2⁶⁴ − 1."""
    whole = int(number)
    return whole - (1 << 64) if whole >= (1 << 63) else whole


def dimensions(found: Any) -> tuple[int, ...]:
    if found is None:
        return ()
    return tuple(dimension(each) for each in found) if isinstance(found, (tuple, list)) else (dimension(found),)


def shape_of(node: Node, output: int = 0) -> tuple[int, ...]:
    """Shape of what the node made. Asked for often, and slow to read: remembered until `forget`."""
    key = (node, output)
    shape = _shapes.get(key)
    if shape is None:
        try:
            shape = tuple(node._input_metadata[output].shape)
        except Exception:
            shape = ()
        _shapes[key] = shape
    return shape


def forget() -> None:
    """At the end of a walk: what is remembered would keep the graph alive."""
    _shapes.clear()


def leaf_of(node: Node | None) -> Tensor | None:
    """The leaf that a node gives its gradient to, also through a transposition or a cast."""
    for _ in range(4):
        if node is None:
            return None
        if base_name(node) == "AccumulateGrad":
            variable: Tensor = node.variable
            return variable
        if base_name(node) not in ("T", "ToCopy", "Transpose", "View", "Expand", "Permute"):
            return None
        node = node.next_functions[0][0]
    return None


def apply_view(node: Node, output: int, value: Tensor) -> Tensor | None:
    """Do again, on other numbers of the same shape, what a node did that only moves numbers about."""
    name = base_name(node)
    if name in _SAME:
        return value
    if name in _RESHAPES:
        return value.reshape(shape_of(node, output))
    if name == "Expand":
        return value.expand(shape_of(node, output))
    if name == "T":
        return value.t()
    if name == "Transpose":
        return value.transpose(dimension(saved(node, "dim0")), dimension(saved(node, "dim1")))
    if name == "Permute":
        return value.permute(dimensions(saved(node, "dims")))
    if name == "Select":
        return value.select(dimension(saved(node, "dim")), dimension(saved(node, "index")))
    if name == "Slice":
        start, end = dimension(saved(node, "start") or 0), min(dimension(saved(node, "end")), 1 << 62)
        dim = dimension(saved(node, "dim")) % value.dim()
        return value[(slice(None),) * dim + (slice(start, end, int(saved(node, "step"))),)]
    if name == "Index":
        indices = saved(node, "indices")
        return value[tuple(slice(None) if each is None else each for each in indices)]
    if name in ("Gather", "TakeAlongDim"):
        return value.gather(dimension(saved(node, "dim")), saved(node, "index"))
    if name == "IndexSelect":
        return value.index_select(dimension(saved(node, "dim")), saved(node, "index"))
    if name == "MaskedSelect":
        return value.masked_select(saved(node, "mask"))
    if name == "Flip":
        return value.flip(dimensions(saved(node, "dims")))
    if name == "Unbind":
        return value.unbind(dimension(saved(node, "dim")))[output]
    if name in ("Split", "UnsafeSplit"):
        return torch.functional.split(value, int(saved(node, "split_size")), dimension(saved(node, "dim")))[output]
    if name in ("SplitWithSizes", "UnsafeSplitWithSizes"):
        sizes = [int(each) for each in saved(node, "split_sizes")]
        return torch.functional.split(value, sizes, dimension(saved(node, "dim")))[output]
    return None


def line_of(node: Node) -> tuple[str, int] | None:
    """Where in the program an operation was written; kept by the node if it was made under anomaly recording."""
    try:
        frames = node.metadata.get("traceback_") or ()
        for frame in reversed(list(frames)):
            found = _FRAME.search(frame)
            if found and not found[1].startswith(_OURS) and (found[1][0] != "<" or found[1].startswith("<ipython")):
                return found[1], int(found[2])
    except Exception:
        pass
    return None
