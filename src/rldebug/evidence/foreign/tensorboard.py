"""Scalars and settings from TensorBoard's event files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rldebug.evidence.foreign.log import Column, Log, named
from rldebug.evidence.run import RunError

_ROW = re.compile(r"^\|\s*([^|]+?)\s*\|\s*(.*?)\s*\|\s*$", re.MULTILINE)
_HYPERPARAMETERS = "hyperparameters"  # what CleanRL calls its table of settings
_SETTINGS = "_hparams_/session_start_info"


@dataclass
class _File:
    """One event file, read."""

    path: Path
    cells: dict[str, list[tuple[int, float, float]]] = field(default_factory=dict)  # tag -> step, wall time, value
    settings: dict[str, Any] = field(default_factory=dict)
    problem: str = ""

    began: float = math.inf
    ended: float = -math.inf
    first_step: int = 0

    def add(self, tag: str, step: int, time: float, value: float) -> None:
        self.first_step = min(step, self.first_step) if self.cells else step
        self.began, self.ended = min(self.began, time), max(self.ended, time)
        self.cells.setdefault(tag, []).append((step, time, value))


def read_tensorboard(where: Path) -> Log:
    """All event files of one folder, taken together: a run that was resumed has several."""
    paths, problems = _event_files(where)
    files = [_read(each) for each in paths]
    problems += [each.problem for each in files if each.problem]
    files = [each for each in files if each.cells]
    if not files:
        why = "; ".join(problems) or "nothing but its beginning was written"
        raise RunError(f"{where} has no scalars in its event files: {why}")
    files.sort(key=lambda each: each.began)
    problems += _without_repeats(files)
    began = files[0].began
    cells: dict[str, list[tuple[int, float, float]]] = {}
    for file in files:
        for tag, own in file.cells.items():
            cells.setdefault(tag, []).extend((step, time - began, value) for step, time, value in own)
    return Log(
        "a TensorBoard log",
        where,
        {tag: Column.of(own) for tag, own in cells.items() if own},
        {name: value for each in files for name, value in each.settings.items()},
        tuple(problems),
        counts_env_steps=True,
    )


def _event_files(where: Path) -> tuple[list[Path], list[str]]:
    if where.is_file():
        return [where], []
    if not where.is_dir():
        raise RunError(f"{where} is not there: expected a folder with TensorBoard's event files (*tfevents*)")
    found = sorted(each for each in where.rglob("*tfevents*") if each.is_file())
    if not found:
        raise RunError(f"{where} has no TensorBoard event file: expected files called *tfevents* in it or below it")
    folders = sorted({each.parent for each in found})
    if where in folders:
        below = [str(each.relative_to(where)) for each in folders if each != where]
        told = [f"below it lie further logs, which were not read: {named(below)}"] if below else []
        return [each for each in found if each.parent == where], told
    if len(folders) > 1:
        raise RunError(
            f"{where} holds the logs of {len(folders)} runs, name one of them: {named(list(map(str, folders)), 12)}"
        )
    return found, []


def _read(path: Path) -> _File:
    file = _File(path)
    taken, size = 0, path.stat().st_size
    try:
        for record in _records(path):
            _take(record, file)
            taken += len(record) + 16  # a length and two checksums
    except (RunError, ImportError):
        raise
    except Exception as error:
        file.problem = (
            f"{path.name} is damaged after {taken} of {size} bytes, the rest was left out ({type(error).__name__})"
        )
        return file
    if taken < size:
        file.problem = f"{path.name} is cut off or damaged after {taken} of {size} bytes: the rest was left out"
    return file


def _records(path: Path) -> Iterator[bytes]:
    try:
        from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
    except ImportError as error:
        raise RunError(
            f"reading TensorBoard's files needs its package ({error}): pip install 'rldebug[tensorboard]'"
        ) from error
    yield from RawEventFileLoader(str(path)).Load()


def _take(record: bytes, file: _File) -> None:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.util.tensor_util import make_ndarray

    event = Event.FromString(record)
    for value in event.summary.value:
        plugin = value.metadata.plugin_data.plugin_name
        if value.tag == _SETTINGS:
            file.settings |= _hparams(value.metadata.plugin_data.content)
        elif value.WhichOneof("value") == "simple_value":
            file.add(value.tag, event.step, event.wall_time, float(value.simple_value))
        elif value.HasField("tensor"):
            content = make_ndarray(value.tensor)
            if value.tag.startswith(_HYPERPARAMETERS) and content.dtype == object:
                file.settings |= _table(content.reshape(-1)[0])
            elif plugin in ("scalars", "") and content.size == 1 and content.dtype.kind in "fiub":
                file.add(value.tag, event.step, event.wall_time, float(content.reshape(())))


def _table(text: Any) -> dict[str, Any]:
    """CleanRL's `|param|value|`."""
    told = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    return {name: value for name, value in _ROW.findall(told) if name != "param" and set(name) != {"-"}}


def _hparams(content: bytes) -> dict[str, Any]:
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    given = HParamsPluginData.FromString(content).session_start_info.hparams
    return {name: getattr(value, value.WhichOneof("kind") or "string_value") for name, value in given.items()}


def _without_repeats(files: list[_File]) -> list[str]:
    """Where a later file begins again at an earlier step, the steps from there on are the later file's. Files that were
    written at the same time belong to several writers, and all count."""
    told = []
    for at, later in enumerate(files):
        for earlier in files[:at]:
            if later.began < earlier.ended:
                continue
            dropped = 0
            for tag, cells in earlier.cells.items():
                kept = [each for each in cells if each[0] < later.first_step]
                dropped += len(cells) - len(kept)
                earlier.cells[tag] = kept
            if dropped:
                told.append(
                    f"{later.path.name} begins again at step {later.first_step}: {dropped} numbers from there on in "
                    f"{earlier.path.name} were left out"
                )
    return told
