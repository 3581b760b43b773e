"""History and settings from the file that Weights & Biases keeps of an offline run.

The file is a log in LevelDB's format: blocks of 32 KiB with records in them, each a checksum, a length, a type and a
part of a message. wandb has had readers of its own in changing places; its messages have stayed what they are.
"""

from __future__ import annotations

import importlib
import json
import math
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rldebug.evidence.foreign.log import Column, Log, named
from rldebug.evidence.run import RunError

_MAGIC = b":W&B"
_HEADER, _BLOCK, _RECORD = 7, 32768, struct.Struct("<IHB")
_FULL, _FIRST, _LAST = 1, 2, 4
_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def read_wandb(where: Path) -> Log:
    """The run of a .wandb file, of the folder it lies in, or of the one run in a folder called wandb."""
    path = _file(where)
    problems: list[str] = []
    cells: dict[str, list[tuple[int, float, float]]] = {}
    settings: dict[str, Any] = {}
    try:
        messages = importlib.import_module("wandb.proto.wandb_internal_pb2")
    except ImportError as error:
        raise RunError(
            f"reading the file of an offline run needs wandb ({error}): pip install 'rldebug[wandb]'"
        ) from error
    for message in _messages(path, problems):
        try:
            record = messages.Record.FromString(message)
            kind = record.WhichOneof("record_type")
            if kind == "history":
                _take(record.history, cells)
            elif kind in ("run", "config"):
                changed = record.run.config.update if kind == "run" else record.config.update
                settings |= {_name(item): json.loads(item.value_json) for item in changed}
        except Exception as error:
            problems.append(f"a record of {path.name} was left out: {type(error).__name__}: {error}"[:160])
    if not cells:
        why = f": {'; '.join(problems[:3])}" if problems else ": nothing was logged with wandb.log(...)"
        raise RunError(f"{path} has no history{why}")
    columns = {name: Column.of(own) for name, own in cells.items()}
    return Log("an offline run of Weights & Biases", path, columns, settings, tuple(problems), thing="key")


def _file(where: Path) -> Path:
    if where.is_file():
        return where
    if not where.is_dir():
        raise RunError(f"{where} is not there: expected a folder such as wandb/offline-run-…, or the .wandb file in it")
    for pattern in ("*.wandb", "*/*.wandb", "wandb/*/*.wandb"):
        found = sorted({each.resolve() for each in where.glob(pattern)})  # latest-run is a link
        if len(found) == 1:
            return found[0]
        if found:
            shown = named([str(each.parent) for each in found], 12)
            raise RunError(f"{where} holds {len(found)} runs of wandb, name one of them: {shown}")
    raise RunError(f"{where} has no run of wandb: expected a file called run-….wandb in it or in a folder below")


def _messages(path: Path, problems: list[str]) -> Iterator[bytes]:
    """Whole messages; at the first record that is damaged or cut off, the rest is given up."""
    data = path.read_bytes()
    if data[:4] != _MAGIC:
        raise RunError(f"{path} is no file of wandb: it does not begin with {_MAGIC.decode()}")
    at, parts = _HEADER, b""
    while at < len(data):
        left = _BLOCK - at % _BLOCK
        if left < _RECORD.size:  # too little for a header: zeros
            at += left
            continue
        body = b""
        checksum, length, kind = _RECORD.unpack_from(data, at) if at + _RECORD.size <= len(data) else (0, 0, 0)
        if kind:
            body = data[at + _RECORD.size : at + _RECORD.size + length]
        if not kind or len(body) < length or zlib.crc32(body, zlib.crc32(bytes([kind]))) != checksum:
            if any(data[at:]):  # a writer that was stopped may leave zeros
                problems.append(
                    f"{path.name} is cut off or damaged after {at} of {len(data)} bytes: the rest was left out"
                )
            return
        at += _RECORD.size + length
        parts = body if kind in (_FULL, _FIRST) else parts + body
        if kind in (_FULL, _LAST):
            yield parts


def _take(history: Any, cells: dict[str, list[tuple[int, float, float]]]) -> None:
    row: dict[str, float] = {}
    for item in history.item:
        row |= _numbers(_name(item), json.loads(item.value_json))
    step = int(history.step.num) if history.HasField("step") else int(row.get("_step", 0))
    seconds = row.get("_runtime", math.nan)
    for name, value in row.items():
        cells.setdefault(name, []).append((step, seconds, value))


def _name(item: Any) -> str:
    return str(item.key or "/".join(item.nested_key))


def _numbers(name: str, value: Any) -> dict[str, float]:
    """Under its name; what lies deeper under both names. Pictures and histograms are objects with a type."""
    if isinstance(value, Mapping):
        if "_type" in value:
            return {}
        return {
            key: each for inner, deeper in value.items() for key, each in _numbers(f"{name}/{inner}", deeper).items()
        }
    if isinstance(value, str):
        return {name: _WORDS[value]} if value in _WORDS else {}
    return {name: float(value)} if isinstance(value, (int, float)) else {}
