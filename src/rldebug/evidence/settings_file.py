"""Every name that a user's file gives a value, with its line. Scripts have a file of their own."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from rldebug.evidence.given import Given, HyperparametersError, is_number
from rldebug.evidence.settings_script import read_script
from rldebug.evidence.synonyms import plain_name


def read_settings(file: Path) -> tuple[Given, ...]:
    """Every name that is given a constant in a .py, .toml, .json or .yaml file. A script is parsed, and never run."""
    readers = {".py": read_script, ".toml": _read_toml, ".json": _read_json, ".yaml": _read_yaml, ".yml": _read_yaml}
    data = file.read_bytes()
    read = readers.get(file.suffix.lower())
    if read is None:
        raise HyperparametersError(f"{file}: expected a .py, .toml, .json or .yaml file")
    if b"\0" in data:
        raise HyperparametersError(f"{file} is not a text file: it holds zero bytes")
    try:
        found = [replace(each, value=_number(each.value)) for each in read(data, file)]
    except UnicodeDecodeError as error:
        raise HyperparametersError(f"{file} is not a text file: byte {error.start} is not UTF-8") from error
    except RecursionError as error:
        raise HyperparametersError(f"{file} is nested too deeply to be read") from error
    return tuple(each for each in found if _sane(each.value))


def _number(value: Any) -> Any:
    """YAML takes 1e-3 for a word; the zoo of Stable-Baselines3 writes lin_1e-3 for a rate that falls to zero."""
    if isinstance(value, str):
        try:
            return float(value.removeprefix("lin_"))
        except ValueError:
            return value
    return value


def _sane(value: Any) -> bool:
    """No NaN, no infinities, and no numbers too large for arithmetic."""
    return all(map(_sane, value)) if isinstance(value, list) else not is_number(value) or abs(value) < 1e18


def _given(path: tuple[str, ...], value: Any, line: int) -> Given:
    if len(path) > 1 and plain_name(path[-2]) == "net_arch" and isinstance(value, list):  # of the policy, of the critic
        path = path[:-1]
    return Given(".".join(path), value, line, ".".join(path[:-1]) or "top")


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Everything that has a name, in the order of the file."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _leaves(each, (*path, str(key)))
    elif isinstance(value, list) and any(isinstance(each, Mapping | list) for each in value):
        for each in value:
            yield from _leaves(each, path)
    elif path:
        yield path, value


# ── TOML: the parser does not say where a key stands ────────────────────────────────────────────────────────────────


def _read_toml(data: bytes, file: Path) -> Iterator[Given]:
    text = data.decode("utf-8-sig")
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise HyperparametersError(f"{file} is not TOML: {error}") from error
    lines = _toml_lines(text)
    for path, value in _leaves(tables):
        line = next((lines[path[:size]] for size in range(len(path), 0, -1) if path[:size] in lines), 1)
        yield _given(path, value, line)


def _toml_lines(text: str) -> dict[tuple[str, ...], int]:
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\[?(.+?)\]\]?\s*(#.*)?$", line):
            table = _toml_keys(header[1])
            lines.setdefault(table, number)
        elif pair := re.match(r"""\s*((?:[\w.-]|\s*\.\s*|"[^"]*"|'[^']*')+)\s*=""", line):
            lines.setdefault((*table, *_toml_keys(pair[1])), number)
    return lines


def _toml_keys(dotted: str) -> tuple[str, ...]:
    return tuple(each.strip("\"'") for each in re.findall(r"""[^.\s"']+|"[^"]*"|'[^']*'""", dotted))


# ── JSON: the parser keeps the order, so each key is looked for after the one before ────────────────────────────────


def _read_json(data: bytes, file: Path) -> Iterator[Given]:
    text = data.decode("utf-8-sig")
    try:
        tables = json.loads(text)
    except json.JSONDecodeError as error:
        raise HyperparametersError(f"{file}:{error.lineno} is not JSON: {error.msg}") from error
    position = 0
    above: tuple[str, ...] = ()
    for path, value in _leaves(tables):
        parted = next((i for i, (key, old) in enumerate(zip(path, above, strict=False)) if key != old), len(above))
        for key in path[min(parted, len(path) - 1) :]:
            found = re.compile(rf"(?<!\\){re.escape(json.dumps(key))}\s*:").search(text, position)
            position = found.end() - 1 if found else position
        above = path
        yield _given(path, value, text.count("\n", 0, position) + 1)


# ── YAML: read as nodes, which know their lines, and never made into objects ────────────────────────────────────────


def _read_yaml(data: bytes, file: Path) -> Iterator[Given]:
    try:
        yaml = importlib.import_module("yaml")
    except ImportError as error:
        raise HyperparametersError(f"reading {file} needs PyYAML: pip install pyyaml") from error
    try:
        root = yaml.compose(data.decode("utf-8-sig"), Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{file}:{mark.line + 1}" if mark is not None else str(file)
        raise HyperparametersError(f"{where} is not YAML: {getattr(error, 'problem', None) or error}") from error
    yield from _yaml_leaves(root, (), yaml)


def _yaml_leaves(node: Any, path: tuple[str, ...], yaml: Any) -> Iterator[Given]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _yaml_leaves(value, (*path, str(key.value)), yaml)
    elif isinstance(node, yaml.SequenceNode) and not all(isinstance(each, yaml.ScalarNode) for each in node.value):
        for each in node.value:
            yield from _yaml_leaves(each, path, yaml)
    elif path and isinstance(node, yaml.SequenceNode):
        yield _given(path, [_yaml_scalar(each) for each in node.value], node.start_mark.line + 1)
    elif path and node is not None:
        yield _given(path, _yaml_scalar(node), node.start_mark.line + 1)


def _yaml_scalar(node: Any) -> Any:
    kind, text = node.tag.rpartition(":")[2], node.value
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in ("true", "yes", "on")
    try:
        if kind == "int":
            return int(text.replace("_", ""), 0)
        return float(text.replace("_", "")) if kind == "float" else text
    except ValueError:  # 012, 1:30, .inf: nothing that a hyperparameter is
        return text
