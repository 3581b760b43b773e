"""Rollouts in memory are read through a DataLoader."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.evidence.timing import WORTH, Slice, Timing, total
from rldebug.evidence.timings.amounts import of_the_run
from rldebug.evidence.timings.libraries import module_of
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import classes
from rldebug.syntax.flow import computed_from
from rldebug.syntax.names import argument, dotted, library
from rldebug.syntax.places import Function, calls

_LOADER = "torch.utils.data.DataLoader"
_TENSORS = frozenset({"torch.utils.data.TensorDataset", "torch.utils.data.dataset.TensorDataset"})
_PLAIN = frozenset({"torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.FloatTensor", "torch.LongTensor"})


@dataclass(frozen=True, kw_only=True)
class DataloaderForRollouts(Rule):
    """Rollouts in memory are read through a DataLoader.

    ## What it checks
    Time in `torch.utils.data`, where the data are tensors, lists, or a dataset of yours that only looks rows up.

    ## Why it matters
    A DataLoader fetches row by row and stacks the rows again, in Python. With workers, it also starts processes for
    each epoch and sends them what lies in memory already.

    ## Likely causes
    1. A habit from supervised learning, where rows come from files. Confirm: read where the dataset is made.

    ## What to try first
    `for index in torch.randperm(rows).split(batch): obs[index], …`

    ## When it is fine
    Data that do not fit into memory.

    ## References
    PyTorch, *torch.utils.data*: automatic batching fetches samples one by one.
    """

    code: ClassVar[str] = "PRF919"
    name: ClassVar[str] = "dataloader-for-rollouts"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    otherwise: float = 0.1  # of the time is left, where it was not measured on this machine

    def check(self, evidence: Timing) -> Iterator[Finding]:
        found = evidence.of(where=lambda each: _modules(each) != set())
        loads = any("torch.utils.data.dataloader" in _modules(each) for each in found)
        if not found or (loads and not _in_memory(evidence)):
            return
        seconds, measured = total(found), evidence.yardstick.get("rollout_buffer")
        times = max(1, evidence.updates)
        sample = measured.detail.get("sample") if measured is not None else None
        instead = self.otherwise * seconds if sample is None else sample * times
        speedup = evidence.speedup(seconds, instead)
        if speedup < WORTH:
            return
        yield self.finding(
            "what lies in memory is read through a DataLoader, row by row"
            if loads
            else "rows are chosen by a sampler of torch.utils.data, one by one",
            where=evidence.where(found),
            seen=f"{lasting(seconds / times)} per update in torch.utils.data, {of_the_run(evidence, seconds)}",
            expected="a tenth of it or less, with one index for all rows"
            if measured is None or sample is None
            else f"{measured.what}: {lasting(sample)} for a batch on this machine",
            help="for index in torch.randperm(rows).split(batch): take obs[index] and the like",
            confidence=0.85,
            severity=weight(speedup),
            speedup=speedup,
        )


def _modules(piece: Slice) -> set[str]:
    inside = (module_of(each.file) for each in piece.stack if each.kind != "user")
    return {each for each in inside if each.startswith("torch.utils.data")}


def _in_memory(timing: Timing) -> bool:
    """Whether every DataLoader of the program is given something that lies in memory."""
    given = [
        (source, dataset)
        for source in timing.sources
        for call in calls(source)
        if library(source, call) == _LOADER and (dataset := argument(call, 0, "dataset")) is not None
    ]
    return bool(given) and all(_lies_in_memory(source, dataset) for source, dataset in given)


def _lies_in_memory(source: Source, dataset: ast.expr) -> bool:
    for each in computed_from(source, dataset, until=lambda node: isinstance(node, ast.Call)):
        if isinstance(each, ast.List | ast.ListComp | ast.Tuple):
            return True
        if isinstance(each, ast.Call):
            name = library(source, each)
            if name in _TENSORS or name in _PLAIN or dotted(each.func) in ("list", "zip"):
                return True
            owner = classes(source).get(dotted(each.func))
            if owner is not None:
                return _looks_up(source, owner)
    return False


def _looks_up(source: Source, owner: ast.ClassDef) -> bool:
    """A dataset of the user's that gives `self.obs[i]`, and reads no file."""
    gives = [each for each in owner.body if isinstance(each, Function) and each.name == "__getitem__"]
    return bool(gives) and all(
        library(source, node) in _PLAIN or dotted(node.func) in ("int", "float", "len", "tuple", "dict")
        for each in gives
        for node in ast.walk(each)
        if isinstance(node, ast.Call)
    )
