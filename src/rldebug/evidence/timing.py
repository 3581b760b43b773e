"""Timing: where the time of a program went, in the terms of a training loop; how fast it was, and what it could be.

What is recorded are stacks with the time spent in each (capture/sampler.py). What they mean is worked out from the
stacks and the text of the program whenever a run folder is read: timings/parts.py says which part of a training loop
a stack belongs to.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rldebug.evidence.source import Source
from rldebug.finding import Where

PARTS: dict[str, str] = {
    "simulator": "the environment's own step",
    "wrappers": "wrappers and transforms around it",
    "reset": "resets of environments",
    "rendering": "pictures of environments",
    "acting": "networks, choosing actions",
    "copies": "arrays to tensors and back, host to device and back",
    "buffer write": "keeping what was seen",
    "buffer sample": "taking batches from it",
    "advantages": "returns, advantages, and what is done once a rollout",
    "loss": "networks and losses, forward",
    "backward": "gradients",
    "optimizer": "steps, clipping and clearing of gradients",
    "target networks": "copies of weights that follow",
    "evaluation": "environments that nothing is learned from",
    "logging": "numbers written, printed or plotted",
    "saving": "checkpoints",
    "waiting": "for workers, other processes, or sleep",
    "other": "the rest, by function",
}
"""The parts that the time of a training loop goes into. What a user names with `rldebug.span` is a part as well."""

FILE = "timing.json"
"""Of a run folder: what was sampled. Rewritten as a whole, so that a run that was killed leaves the last."""

WORTH = 1.05
"""Speed-up of the whole run below which nobody is told: advice has its price too."""


@dataclass(frozen=True)
class Spot:
    """One call that is under way: a place in a file, as exact as Python knows it."""

    file: str
    function: str
    line: int
    kind: str = ""  # user, module, optimizer, environment, wrapper, vector, or "": some other library
    end_line: int = 0
    column: int = 0  # in bytes, from 0, as the parser counts; both 0 where Python does not know
    end_column: int = 0
    role: str = ""  # module, optimizer, environment, wrapper or vector: what its `self` is, also in the user's own code


@dataclass(frozen=True)
class Slice:
    """Time that was spent in one place, under the same circumstances."""

    seconds: float
    samples: int
    stack: tuple[Spot, ...]  # outermost first; nothing of ours in it
    before: str = "start"  # the last thing that happened before: start, step, reset, backward or update
    after: str = "end"  # the next one: step, reset, backward, update or end
    env: int = -1  # which environment the next one belongs to, where it is a step or reset
    grad: bool = True  # gradients were switched on
    inside: bool = False  # an environment was being called
    span: str = ""  # the user's own name for it
    thread: int = 0  # 0 is the one that trains
    part: str = "other"
    called: str = ""  # what the innermost line of the user's own calls: torch.tensor, .item, buffer.sample
    rows: int = 0  # of the input of the outermost network that is being called, if one is

    @property
    def user(self) -> Spot | None:
        """The innermost line of the user's own."""
        return next((each for each in reversed(self.stack) if each.kind == "user"), None)


@dataclass(frozen=True)
class Window:
    """A stretch of the run, between two looks at the machine."""

    began: float  # seconds since the start
    seconds: float
    env_steps: int = 0
    updates: int = 0
    parts: Mapping[str, float] = field(default_factory=dict)  # seconds
    resident: int = 0  # bytes of host memory at its end
    cpu: float = 0.0  # seconds of this process
    children_cpu: float = 0.0  # seconds of the processes that it started
    faults: int = 0  # pages that had to be fetched from disk
    allocated: int | None = None  # bytes that tensors hold on the GPU
    reserved: int | None = None
    gross: int | None = None
    utilisation: float | None = None  # share of time
    temperature: float | None = None
    fan: float | None = None


@dataclass(frozen=True)
class Environment:
    """One that was played; a vector of them is one."""

    name: str
    lanes: int = 1
    workers: int = 0  # processes that it plays in
    steps: int = 0  # of all lanes
    calls: int = 0  # of step
    episodes: int = 0
    first_update: int = 0  # updates before its first step
    last: float = 0.0  # seconds since the start, of its last step
    evaluation: bool = False  # nothing is learned from it
    spec: str = ""  # by which gymnasium.make makes it
    render_mode: str = ""
    created: tuple[str, int] | None = None


@dataclass(frozen=True)
class Network:
    """One that an optimizer owns, or that was called."""

    name: str
    shapes: tuple[tuple[int, ...], ...] = ()  # of its parameters
    dtype: str = "float32"
    device: str = "cpu"
    optimizer: str = ""  # class of the one that owns it
    acting_rows: int = 0  # rows of its input when it acts
    training_rows: int = 0  # and when it learns
    gradient_bytes: int = 0
    optimizer_bytes: int = 0  # what the optimizer keeps for it

    @property
    def parameters(self) -> int:
        total = 0
        for shape in self.shapes:
            count = 1
            for size in shape:
                count *= size
            total += count
        return total


@dataclass(frozen=True)
class Host:
    """What the program ran on."""

    cores: float = 1.0  # that may be used
    threads: int = 1  # of torch, in this process
    interop: int = 1
    variables: Mapping[str, str] = field(default_factory=dict)  # OMP_NUM_THREADS and the like, at the end
    late: tuple[str, ...] = ()  # of these, set after torch was imported
    workers: int = 0  # processes that it started and that lived at the same time, at most
    worker_threads: int = 0  # threads of torch in one of them, where known
    gpu: str = ""  # its name; "" where there is none
    anomaly: bool = False  # torch.autograd.set_detect_anomaly was on while it trained
    profiler: str = ""  # a profiler that the program itself switched on
    default_dtype: str = "float32"


@dataclass(frozen=True)
class Sync:
    """A line at which the host waited for the GPU."""

    spot: Spot
    times: int  # in the updates that were looked at
    per_update: float
    what: str = ""  # .item, .cpu, nonzero …


@dataclass(frozen=True)
class Held:
    """Something of the user's that memory is kept by, looked at several times."""

    name: str  # as the user's code has it: agent.memory, episode_infos
    file: str = ""
    line: int = 0  # where it was made or is appended to, if known
    at: tuple[float, ...] = ()  # seconds since the start
    items: tuple[int, ...] = ()
    bytes: tuple[int, ...] = ()  # as far as they can be counted
    graphs: int = 0  # items that hold a graph of autograd, at the last look


@dataclass(frozen=True)
class Kept:
    """What is kept for backward by one line, in one update."""

    spot: Spot
    bytes: int
    tensors: int


@dataclass(frozen=True)
class Measured:
    """What something costs on this machine, with rldebug's parts, in the user's shapes."""

    name: str  # of the yardstick
    what: str  # rldebug.parts.returns.gae, 2048 × 1
    seconds: float  # once
    instead: float | None = None  # the slow way, where that was measured too
    detail: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Timing:
    """All that is known of where the time went. Seconds are of the wall clock of the thread that trains."""

    seconds: float  # from the first step or update to the end
    start_up: float = 0.0  # before: imports, networks, environments
    own: float = 0.0  # that watching took, and that is in no slice
    interval: float = 0.0  # seconds between two samples
    env_steps: int = 0
    updates: int = 0
    phases: int = 0  # stretches of acting that were followed by updates
    slices: tuple[Slice, ...] = ()
    windows: tuple[Window, ...] = ()
    environments: tuple[Environment, ...] = ()
    networks: tuple[Network, ...] = ()
    host: Host = Host()
    syncs: tuple[Sync, ...] = ()
    kernels: Mapping[str, float] = field(
        default_factory=dict
    )  # of one update on the GPU: launches, kernel_seconds, seconds
    held: tuple[Held, ...] = ()
    kept: tuple[Kept, ...] = ()
    moments: tuple[tuple[float, float, int], ...] = ()  # an iteration: when, for how long, place in `slices`
    happened: tuple[tuple[float, str], ...] = ()  # in it: when, and which of step, reset, backward, update
    yardstick: Mapping[str, Measured] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    problems: tuple[str, ...] = ()

    # ── how the time is spread ──────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def parts(self) -> Mapping[str, float]:
        """Seconds of each part, the largest first. They add up to the wall clock."""
        found: dict[str, float] = {}
        for each in self.slices:
            if each.thread == 0:
                found[each.part] = found.get(each.part, 0.0) + each.seconds
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def of(self, *parts: str, where: Callable[[Slice], bool] | None = None) -> list[Slice]:
        """Slices of these parts (of all, where none is named) in the thread that trains, the longest first."""
        found = (
            each
            for each in self.slices
            if each.thread == 0 and (not parts or each.part in parts) and (where is None or where(each))
        )
        return sorted(found, key=lambda each: -each.seconds)

    def share(self, seconds: float) -> float:
        return seconds / self.seconds if self.seconds > 0 else 0.0

    def speedup(self, seconds: float, instead: float = 0.0) -> float:
        """How many times as fast the whole run would be, if what takes `seconds` took `instead` (Amdahl)."""
        rest = self.seconds - seconds + min(instead, seconds)
        return self.seconds / max(rest, 1e-3 * self.seconds) if self.seconds > 0 else 1.0

    # ── where ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def source(self, file: str) -> Source | None:
        return next((each for each in self.sources if each.file == file), None)

    def where(self, slices: Iterable[Slice]) -> Where:
        """The user's own line that most of their time is spent on."""
        lines: dict[tuple[str, int], float] = {}
        for each in slices:
            if (spot := each.user) is not None:
                key = (spot.file, spot.line)
                lines[key] = lines.get(key, 0.0) + each.seconds
        if not lines:
            return Where()
        file, line = max(lines, key=lambda key: lines[key])
        return Where(file=file, line=line)

    def node(self, spot: Spot) -> ast.expr | ast.stmt | None:
        """The expression that was being worked out at a place; the statement, where Python does not know better."""
        from rldebug.evidence.timings.nodes import node_at

        source = self.source(spot.file)
        return None if source is None else node_at(source, spot)


def total(slices: Iterable[Slice]) -> float:
    return sum(each.seconds for each in slices)


def as_plain(value: Any) -> Any:
    """A dataclass of this file as what JSON knows; sources are kept elsewhere."""
    from dataclasses import fields, is_dataclass

    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: as_plain(getattr(value, each.name)) for each in fields(value) if each.name != "sources"}
    if isinstance(value, Mapping):
        return {str(key): as_plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [as_plain(each) for each in value]
    return value
