"""How the lines and tensors in `Crash.graph` are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rldebug.evidence.crash import Crash
from rldebug.finding import Where

SITES = "run once with `rldebug run --creation-sites`: it names the line"


def at(crash: Crash, line: Mapping[str, Any] | None) -> Where:
    """The place of a line that the graph tells of; that of the crash where there is none."""
    return replace(crash.where, file=line["file"], line=line["line"]) if line else crash.where


def shown(crash: Crash, line: Mapping[str, Any] | None) -> str:
    """`line 12: logp = policy(obs)`; with its file where that is another than the crash's."""
    if not line:
        return ""
    other = line["file"] != crash.where.file
    place = f"{Path(line['file']).name}:{line['line']}" if other else f"line {line['line']}"
    return f"{place}: `{line['text']}`" if line.get("text") else place


def sized(name: str, shape: Sequence[int] | None) -> str:
    """`logp (64,)`."""
    if shape is None:
        return name
    return f"{name} ({', '.join(str(each) for each in shape)}{',' if len(shape) == 1 else ''})"


def listed(names: Sequence[str], count: int | None = None) -> str:
    """`a, b and 3 more`."""
    more = (count or len(names)) - len(names)
    return f"{', '.join(names)} and {more} more" if more > 0 else ", ".join(names)


def not_reduced(crash: Crash) -> tuple[str, str, str]:
    """Of a loss that is many numbers: its name, followed by a blank; what is seen; what to do."""
    loss = crash.graph.get("loss") or {}
    name, shape = str(loss.get("name", "")), loss.get("shape")
    terms = crash.graph.get("terms") or []
    if not name or not shape:
        return "", "", "take the mean of the loss over the batch before backward()"
    line = f", made in {shown(crash, crash.graph['made'])}" if crash.graph.get("made") else ""
    broad = ", ".join(sized(each["name"], each["shape"]) for each in terms)
    told = f"; {sized(name, shape)}{line}{f'; not reduced: {broad}' if broad else ''}"
    if reduced := crash.graph.get("reduced"):
        told += f"; {reduced['by']} takes one dimension only in {shown(crash, reduced)}"
        whole = f"{reduced['by'].partition('(')[0]}()"
        return (
            (f"{name} " if len(name) < 30 else ""),
            told,
            f"reduce all dimensions: {whole} instead of {reduced['by']}",
        )
    what = terms[0]["name"] if len(terms) == 1 else name
    what = what if what.replace(".", "").replace("_", "").isalnum() else f"({what})"
    # A product of two expressions has no name.
    return (f"{name} " if len(name) < 30 else ""), told, f"take the mean over the batch: {what}.mean()"


def missing_attribute(crash: Crash) -> tuple[str, str, str]:
    """Of an attribute that an object does not have: the message, what is seen, what to do."""
    graph = crash.graph
    owner, name, alike = graph["owner"], graph["attribute"], graph.get("alike") or []
    message = f"the attribute {name} of {graph['type'] if owner == 'self' else owner} was never set"
    if line := graph.get("set"):
        function = f"{line['function']}()" if line.get("function") else "that line"
        seen = f"; it is set in {shown(crash, line)}, in {function}" if line.get("function") else ""
        if line.get("function") == "__init__":
            return message, seen, f"see why __init__ has not come to line {line['line']}: an early return, a condition"
        return message, seen, f"let {function} run before this line, or set {owner}.{name} in __init__"
    if alike:
        seen = f"; {graph['type']} has {listed(alike)}"
        return f"{message}: it has {alike[0]}", seen, f"write {owner}.{alike[0]}, or call it {name} where it is set"
    return message, "; no line of its class sets it", f"set {owner}.{name} in __init__ of {graph['type']}"


def at_origin(crash: Crash, origin: Any) -> Where:
    """The place where a name got its value (evidence/crashes/bound.py), or that of the crash."""
    return replace(crash.where, file=origin.file, line=origin.line) if origin is not None else crash.where
