"""How buffers lie in memory: an array per leaf of a space, checked on the way in; stacked frames, each stored once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

if TYPE_CHECKING:
    from gymnasium import Space

Array: TypeAlias = NDArray[Any]
Shapes: TypeAlias = dict[str, tuple[tuple[int, ...], np.dtype[Any]]]


@dataclass(frozen=True)
class Leaf:
    """One array of the storage."""

    key: str  # the name of the array and its file: obs, or obs.0, obs.1, … where the space is nested
    name: str  # in messages: obs, or obs['camera']
    shape: tuple[int, ...]  # of one step of all envs
    dtype: np.dtype[Any]

    def checked(self, value: Any) -> Array:
        """As an array of that shape, to be stored without losing its meaning, or an error that says why not."""
        array: Array
        if isinstance(value, np.ndarray):
            array = value
        elif isinstance(value, Tensor):
            if value.requires_grad:
                raise ValueError(
                    f"{self.name} carries a graph: it would keep every past forward pass alive; "
                    "detach() it, or act under torch.no_grad()"
                )
            array = value.numpy(force=True)
        else:
            array = np.asarray(value)
        if array.shape != self.shape:
            one = ", also where there is one: obs[None]" if self.shape[0] == 1 else ""
            raise ValueError(f"{self.name} has shape {array.shape}; {self.shape} is expected: a row for each env{one}")
        if array.dtype != self.dtype and not _may_become(array.dtype, self.dtype):
            raise TypeError(f"{self.name} is {array.dtype}; {self.dtype} is expected, and it would be changed by that")
        return array


@lru_cache(64)
def _may_become(given: np.dtype[Any], stored: np.dtype[Any]) -> bool:
    return np.can_cast(given, stored, "same_kind")


@dataclass(frozen=True)
class Column:
    """A field that may be nested. `tree` has the form of the space: None for a leaf, or a dict or tuple of such."""

    tree: Any
    leaves: tuple[Leaf, ...]

    @classmethod
    def of(cls, field: str, space: Space[Any], envs: int) -> Column:
        from gymnasium import spaces

        found: list[tuple[str, tuple[int, ...], np.dtype[Any]]] = []

        def form(name: str, space: Space[Any]) -> Any:
            if isinstance(space, spaces.Dict):
                return {key: form(f"{name}[{key!r}]", each) for key, each in space.spaces.items()}
            if isinstance(space, spaces.Tuple):
                return tuple(form(f"{name}[{i}]", each) for i, each in enumerate(space.spaces))
            if not isinstance(space, (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)):
                raise TypeError(
                    f"{name} is of {type(space).__name__}; a buffer stores Box, Discrete, MultiDiscrete, MultiBinary, "
                    "and Dict and Tuple of these: what has a fixed size"
                )
            dtype = np.dtype(np.float32) if space.dtype == np.float64 else np.dtype(space.dtype)
            found.append((name, (envs, *(space.shape or ())), dtype))
            return None

        tree = form(field, space)
        keys = [field] if tree is None else [f"{field}.{i}" for i in range(len(found))]
        return cls(tree, tuple(Leaf(key, *each) for key, each in zip(keys, found, strict=True)))

    def checked(self, value: Any) -> dict[str, Array]:
        """The arrays to be stored, by the keys of their leaves."""
        if self.tree is None:
            leaf = self.leaves[0]
            return {leaf.key: leaf.checked(value)}
        parts = _split(self.leaves[0].key.partition(".")[0], self.tree, value)
        return {leaf.key: leaf.checked(part) for leaf, part in zip(self.leaves, parts, strict=True)}

    def join(self, parts: list[Tensor]) -> Any:
        return parts[0] if self.tree is None else _join(self.tree, iter(parts))


class Frames:
    """The frames of stacked observations, each stored once: a ring of them, and the numbers of each transition's.

    Frames are numbered from the first ever stored; number `i` lies at `i % room` until `i + room` takes its place.
    """

    def __init__(self, k: int, obs: Column, steps: int, envs: int) -> None:
        leaf = obs.leaves[0]
        if obs.tree is not None or leaf.dtype != np.uint8 or leaf.shape[1:2] != (k,):
            given = "nested" if obs.tree is not None else f"{leaf.dtype} {leaf.shape[1:]}"
            raise ValueError(
                f"frames={k} needs observations that are stacks of uint8 frames ({k}, …); these are {given}"
            )
        self.k, self.envs, self.stored = k, envs, 0
        # Beyond one per transition: resets bring more, and what the newest transitions need is never overwritten.
        self.room = steps * envs + steps * envs // 20 + envs * (k + 1) ** 2
        self.shapes: Shapes = {
            "frame": ((self.room, *leaf.shape[2:]), leaf.dtype),
            "frame_numbers": ((steps, envs, k + 1), np.dtype(np.int64)),
            "oldest_frame": ((steps,), np.dtype(np.int64)),
        }
        self._latest: Array = np.zeros(leaf.shape, leaf.dtype)  # the last next_obs, and the numbers of its frames
        self._numbers: NDArray[np.int64] = np.zeros((envs, k), np.int64)

    def write(self, store: dict[str, Array], slot: int, obs: Array, next_obs: Array) -> None:
        # Bytes are compared: memcmp, which numpy's own comparison takes three times as long for.
        stacks = [stack.tobytes() for stack in obs]
        size = len(stacks[0]) // self.k
        for i, stack in enumerate(stacks):
            if stack[size:] != next_obs[i, :-1].tobytes():
                raise ValueError(
                    f"next_obs[{i}] is not obs[{i}] moved on by one frame, as frames={self.k} needs: at an ending, "
                    "hand over the last observation of the old episode (final_obs), not the first of the new one"
                )
        numbers = np.empty((self.envs, self.k + 1), np.int64)
        for i, stack in enumerate(stacks):
            if self.stored and stack == self._latest[i].tobytes():
                numbers[i, :-1] = self._numbers[i]
                continue
            seen: dict[bytes, int] = {}  # the first stack of an episode: those frames that only pad it are the same
            for j, frame in enumerate(obs[i]):
                if (content := frame.tobytes()) not in seen:
                    seen[content] = self._put(store["frame"], frame)
                numbers[i, j] = seen[content]
        for i in range(self.envs):
            numbers[i, -1] = self._put(store["frame"], next_obs[i, -1])
        store["frame_numbers"][slot] = numbers
        store["oldest_frame"][slot] = numbers.min()
        self._latest[:], self._numbers = next_obs, numbers[:, 1:]

    def _put(self, frames: Array, frame: Array) -> int:
        number = self.stored
        frames[number % self.room] = frame
        self.stored += 1
        return number

    def overwritten(self, store: dict[str, Array], slot: int) -> bool:
        """Whether a frame of the transitions in this slot is gone."""
        return self.stored - int(store["oldest_frame"][slot]) > self.room

    def pick(self, store: dict[str, Array], row: Array, last: Array) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """The frames, and where in them the observations of `row` lie, `(N, k)`; likewise for next ones of `last`."""
        numbers = store["frame_numbers"].reshape(-1, self.k + 1)
        before = numbers.take(row, 0, None, "clip") % self.room
        after = before if last is row else numbers.take(last, 0, None, "clip") % self.room
        return (store["frame"], before[:, :-1]), (store["frame"], after[:, 1:])

    def state_dict(self) -> dict[str, Any]:
        latest, numbers = torch.from_numpy(self._latest.copy()), torch.from_numpy(self._numbers.copy())
        return {"stored": self.stored, "latest": latest, "numbers": numbers}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.stored = int(state["stored"])
        self._latest[:], self._numbers[:] = state["latest"].cpu().numpy(), state["numbers"].cpu().numpy()


def allocate(shapes: Shapes, layout: dict[str, Any], folder: str | Path | None) -> dict[str, Array]:
    """The arrays, not yet written: in memory, or in `.npy` files of the folder, with the layout in `replay.json`."""
    if folder is None:
        return {key: np.empty(shape, dtype) for key, (shape, dtype) in shapes.items()}
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    described = folder / "replay.json"
    if described.exists():
        same_layout(f"the buffer in {folder}", json.loads(described.read_text()), layout)
    elif others := sorted(each.name for each in folder.glob("*.npy")):
        raise ValueError(f"{folder} holds {others[0]}, which no buffer wrote; give the buffer a folder of its own")
    described.write_text(json.dumps(layout, indent=1))
    arrays = {}
    for key, (shape, dtype) in shapes.items():
        file = folder / f"{key}.npy"
        mapped = np.lib.format.open_memmap(file, mode="r+" if file.exists() else "w+", dtype=dtype, shape=shape)
        arrays[key] = np.asarray(mapped)  # a plain array over the same file: memmap's own indexing is slower
    return arrays


def same_layout(what: str, given: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    for key in [*expected, *given]:
        if given.get(key) != expected.get(key):
            has, wanted = given.get(key, "absent"), expected.get(key, "absent")
            raise ValueError(f"{what} is laid out differently: {key} is {has} there, and {wanted} in this buffer")


def at_least(name: str, value: int, least: int, why: str = "") -> None:
    if value < least:
        raise ValueError(f"{name} is {value}; it must be at least {least}{why}")


def on_device(device: torch.device, fresh: Tensor) -> Tensor:
    """A host tensor that nobody else holds, on the device; from pinned memory, a CUDA device need not be waited for."""
    if device.type == "cpu":
        return fresh
    return fresh.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else fresh.to(device)


def _split(name: str, tree: Any, value: Any) -> list[Any]:
    """The leaves of a value that has the form of the tree."""
    if tree is None:
        return [value]
    if isinstance(tree, dict):
        if not isinstance(value, Mapping) or value.keys() != tree.keys():
            given = f"has {list(value)}" if isinstance(value, Mapping) else f"is a {type(value).__name__}"
            raise ValueError(f"{name} {given}; a dict of {list(tree)}, each with a row for each env, is expected")
        return [leaf for key, part in tree.items() for leaf in _split(f"{name}[{key!r}]", part, value[key])]
    if not isinstance(value, (tuple, list)) or len(value) != len(tree):
        given = f"has {len(value)} parts" if isinstance(value, (tuple, list)) else f"is a {type(value).__name__}"
        raise ValueError(f"{name} {given}; a tuple of {len(tree)}, each with a row for each env, is expected")
    return [leaf for i, part in enumerate(tree) for leaf in _split(f"{name}[{i}]", part, value[i])]


def _join(tree: Any, leaves: Iterator[Tensor]) -> Any:
    """The leaves, in the form of the tree."""
    if isinstance(tree, dict):
        return {key: _join(part, leaves) for key, part in tree.items()}
    return tuple(_join(part, leaves) for part in tree) if isinstance(tree, tuple) else next(leaves)
