"""The program runs out of memory."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from rldebug.evidence.crash import Crash, Frame
from rldebug.evidence.crashes.bound import bindings, function_at, tree_of
from rldebug.evidence.crashes.facts import Fact
from rldebug.evidence.crashes.signs import operands_told, told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_GIB = 1 << 30
_BITS = re.compile(r"(\d+)$")


@dataclass(frozen=True, kw_only=True)
class OutOfMemory(Rule):
    """The program runs out of memory.

    ## What it checks
    An allocation failed, on the GPU or in the process. What in reach keeps graphs, or is large itself, is named.

    ## Why it matters
    Either too much is asked for at once, or something is kept that should have been dropped.

    ## Likely causes
    1. Tensors are kept with their graph: losses that are summed for a log, log-probs in a list, rows of a buffer.
       Confirm: memory grows with every update; `.item()` or `.detach()` ends it.
    2. The replay buffer lies on the GPU, or holds images as floats. Confirm: compute its size.
    3. Batch, environments or horizon are too large. Confirm: halve them.

    ## What to try first
    Print the allocated memory after each update: does it grow, or is it too much from the start?

    ## When it is fine
    Where the machine is simply too small.

    ## References
    PyTorch, *CUDA semantics*: memory management.
    """

    code: ClassVar[str] = "PRF401"
    name: ClassVar[str] = "out-of-memory"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    large: float = 0.5  # GiB of one tensor that are worth telling

    def concerns(self, evidence: Crash) -> bool:
        return evidence.is_a("OutOfMemoryError", "MemoryError") or evidence.says(
            "out of memory",
            "DefaultCPUAllocator: (can't|not enough)",
            "Unable to allocate",
            "(CUBLAS|CUDNN)_STATUS_(ALLOC_FAILED|NOT_INITIALIZED)",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        kept = self._kept(evidence)
        message, seen, help = kept or (
            "an allocation failed",
            operands_told(evidence).removeprefix("; "),
            "does it grow from update to update? Then detach what is kept; else make batch, buffer or the number of "
            "environments smaller",
        )
        yield self.finding(
            message,
            where=evidence.where,
            seen=f"{evidence.said}; {seen}" if seen else evidence.said,
            expected="memory that stays the same from update to update",
            help=help,
            confidence=0.9 if kept else 0.85,
        )

    def _kept(self, crash: Crash) -> tuple[str, str, str] | None:
        """What in reach holds the memory: message, what was seen, what to do."""
        for _, name, fact in crash.held("collection"):
            if fact.get("graph"):
                rows = f"{name} holds {fact['length']} entries, and the newest still have their graph"
                return (
                    f"out of memory: {name} keeps graphs",
                    rows,
                    f"detach what goes into {name}, by .detach() or .item(), unless the loss is computed from it; then "
                    "empty it after each update",
                )
        for frame, name, fact in crash.held("tensor"):
            if fact.get("ops") and _added_up(frame, name):
                return (
                    f"out of memory: {name} is added up with its graph",
                    f"{name} is {told(fact)}, and each round adds another to it",
                    f"add up numbers: {name} += loss.item(), unless {name} is what backward() is called on",
                )
        sizes = {name: (_gib(fact), fact) for _, name, fact in crash.held("tensor", "array")}
        name, (size, fact) = max(sizes.items(), key=lambda each: each[1][0], default=("", (0.0, {})))
        if size < self.large:
            return None
        place = f"on {fact['device']}" if fact.get("device", "cpu") != "cpu" else "in memory"
        away = "keep it on the CPU and move each batch; " if fact.get("device", "cpu") != "cpu" else ""
        images = len(fact["shape"]) >= 3 and "float" in fact["dtype"]
        return (
            f"out of memory: {name} takes {size:.1f} GiB {place}",
            f"{name} is {told(fact)}: {size:.1f} GiB",
            f"{away}{'keep images as uint8, a quarter of it; ' if images else ''}or make it smaller",
        )


def _gib(fact: Fact) -> float:
    bits = _BITS.search(fact["dtype"])
    return prod(fact["shape"]) * (int(bits[1]) // 8 if bits else 1) / _GIB


def _added_up(frame: Frame, name: str) -> bool:
    """Whether a statement adds to it again and again: `total += loss`."""
    tree = tree_of(frame)
    if tree is None:
        return False
    return any(isinstance(statement, ast.AugAssign) for statement, _ in bindings(function_at(tree, frame), name))
