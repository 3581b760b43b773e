"""Graph: what losses are made of, which parameters they lead to, who holds those, and a picture's worth of boxes.

Plain facts, no tensor and no node of autograd's: it can be kept, written to disk and read again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rldebug.finding import Where

FILE = "graph.json"


@dataclass(frozen=True)
class Loss:
    name: str
    shape: tuple[int, ...] = ()
    nodes: int = 0  # of its graph, without the parameters; 0 where it carries none
    line: tuple[str, int] | None = None


@dataclass(frozen=True)
class Parameter:
    name: str  # actor.0.weight
    module: str  # actor; empty for a leaf that is in no module
    unit: str  # the box it is drawn in
    shape: tuple[int, ...]
    trainable: bool
    losses: tuple[str, ...] = ()  # that lead to it
    optimizers: tuple[str, ...] = ()  # that hold it; twice where one does so twice
    uses: int = 0  # operations that take it

    @property
    def numel(self) -> int:
        count = 1
        for each in self.shape:
            count *= each
        return count


@dataclass(frozen=True)
class Box:
    """A part of the picture: a module, some operations, or a loss."""

    kind: str  # module, operations, loss
    title: str
    names: tuple[str, ...] = ()  # of the operations, in the order of the forward pass
    times: int = 1  # how often it is in the graph
    losses: tuple[str, ...] = ()
    tensors: int = 0
    weights: int = 0
    saved: int = 0  # bytes that are kept for the backward pass
    optimizers: tuple[str, ...] = ()
    module: str = ""  # that it is a part of


@dataclass(frozen=True)
class Arrow:
    """What one box hands to the next, in the forward pass."""

    source: int
    target: int
    times: int = 1
    shape: str = ""
    losses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Size:
    """How large the graph of a loss was, at one update of a run."""

    update: int
    nodes: int
    old: int  # of them made before the update at which the size was last taken
    line: tuple[str, int] | None = None
    bounded: bool = False  # there are more: nobody counted to the end


@dataclass(frozen=True)
class Graph:
    losses: tuple[Loss, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    boxes: tuple[Box, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    optimizers: tuple[str, ...] = ()
    signs: tuple[Mapping[str, Any], ...] = ()  # what rules look for: kind, and what was seen
    sizes: tuple[Size, ...] = ()
    nodes: int = 0
    saved: int = 0  # bytes, of all losses together
    freed: bool = False  # a backward pass has run already: what was saved is gone
    bounded: bool = False  # the graph has more nodes than were walked
    update: int | None = None
    asked: bool = True  # False: it was kept to be drawn, and only its sizes are judged
    problems: tuple[str, ...] = field(default=())

    @property
    def modules(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.module for each in self.parameters if each.module))

    def of(self, module: str) -> tuple[Parameter, ...]:
        return tuple(each for each in self.parameters if each.module == module)

    def where(self, loss: str = "", tensor: str | None = None) -> Where:
        """Where a loss is run backward, as far as that is known."""
        line = next((each.line for each in self.losses if each.name == loss or not loss), None)
        file, number = line if line is not None else (None, None)
        return Where(file=file, line=number, update=self.update, tensor=tensor)

    def signed(self, kind: str) -> list[Mapping[str, Any]]:
        return [each for each in self.signs if each["kind"] == kind]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Graph:
        kinds: dict[str, Any] = {
            "losses": Loss,
            "parameters": Parameter,
            "boxes": Box,
            "arrows": Arrow,
            "sizes": Size,
        }
        read: dict[str, Any] = {name: _tuples(value) for name, value in data.items()}
        for name, kind in kinds.items():
            read[name] = tuple(kind(**{key: _tuples(value) for key, value in each.items()}) for each in data[name])
        return Graph(**read)


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def write_graph(graph: Graph, folder: Path) -> None:
    (folder / FILE).write_text(json.dumps(graph.to_dict(), separators=(",", ":")), encoding="utf-8")


def read_graph(folder: Path) -> Graph | None:
    """That of a run; None where there is none, or a hand was at work."""
    try:
        return Graph.from_dict(json.loads((folder / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
