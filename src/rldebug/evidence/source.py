"""Source: the text of a program, parsed, and the remarks in it that silence a rule."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from rldebug.finding import Edit, Finding, Where

_IGNORE = re.compile(r"#\s*rldebug:\s*ignore(?:\[([^\]]*)\])?")
_FILE = re.compile(r"#\s*rldebug:\s*ignore-file\b(?:\[([^\]]*)\])?")
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "build", "dist", "venv", "env.bak"})
SOURCES = "sources.jsonl"
"""The file of a run folder that holds the text of the program."""

_LARGEST = 2_000_000  # characters; longer files are data


class SourceError(Exception):
    """A file that cannot be looked at; the message says why."""


@dataclass(frozen=True, eq=False)  # by identity: what is worked out about one holds the nodes of its own tree
class Source:
    """One file of Python. What is asked of it often is worked out once, in rldebug.syntax."""

    file: str
    text: str
    tree: ast.Module = field(repr=False)
    beside: tuple[Source, ...] = field(default=(), repr=False)  # other files of its program, as far as they are known

    @cached_property
    def lines(self) -> Sequence[str]:
        return self.text.split("\n")  # as the parser counts; splitlines() also parts at form feeds

    @cached_property
    def silenced(self) -> Mapping[int, frozenset[str]]:
        """Line -> codes and names that are not wanted there, in lower case; `*` for all. Line 0: everywhere."""
        told: dict[int, frozenset[str]] = {}
        for line, comment in _comments(self.text):
            for pattern, place in ((_FILE, 0), (_IGNORE, line)):
                if found := pattern.search(comment):
                    names = {each.strip().lower() for each in (found[1] or "*").split(",")}
                    told[place] = told.get(place, frozenset()) | names
                    break
        return told

    def wants(self, finding: Finding) -> bool:
        """Whether nobody has written `# rldebug: ignore[…]` on the line of a finding, or on the statement's first."""
        names = {finding.code.lower(), finding.name, "*"}
        lines = {0, finding.where.line or 0} | set(self._statement(finding.where.line or 0))
        return not any(names & self.silenced.get(line, frozenset()) for line in lines)

    def _statement(self, line: int) -> Iterator[int]:
        """The first and last line of the simple statement that a line belongs to."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt) and not hasattr(node, "body"):
                last = node.end_lineno or node.lineno
                if node.lineno <= line <= last:
                    yield from (node.lineno, last)

    def at(self, node: ast.AST) -> Where:
        """The place of a node."""
        line = getattr(node, "lineno", 1)
        return Where(file=self.file, line=line, column=self._column(line, getattr(node, "col_offset", 0)))

    def _column(self, line: int, offset: int) -> int:
        """Counted in characters, from 1: the parser counts bytes, from 0."""
        before = self.lines[line - 1].encode()[:offset] if line <= len(self.lines) else b""
        return len(before.decode(errors="replace")) + 1

    def replaced(self, node: ast.expr | ast.stmt, text: str) -> Edit:
        """The edit that puts other text where a node stands."""
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        column = self._column(node.lineno, node.col_offset)
        return Edit(node.lineno, column, end_line, self._column(end_line, end), text)

    def inserted_after(self, node: ast.expr | ast.stmt, text: str) -> Edit:
        """The edit that adds text right behind a node."""
        line = node.end_lineno or node.lineno
        column = self._column(line, node.end_col_offset or node.col_offset)
        return Edit(line, column, line, column, text)

    def quoted(self, node: ast.AST) -> str:
        """The node as it stands in the text, on one line and not too long."""
        text = " ".join((self._segment(node) or ast.unparse(node)).split())
        return text if len(text) <= 90 else f"{text[:89]}…"

    def _segment(self, node: ast.AST) -> str:
        """As ast.get_source_segment, which takes the whole text apart at every call."""
        if not isinstance(node, ast.expr | ast.stmt) or node.end_lineno is None or node.end_col_offset is None:
            return ""
        rows = [each.encode() for each in self.lines[node.lineno - 1 : node.end_lineno]]
        rows[-1] = rows[-1][: node.end_col_offset]
        rows[0] = rows[0][node.col_offset :]
        return b"\n".join(rows).decode(errors="replace")


def parsed(text: str, file: str = "<text>") -> Source:
    """Raises SourceError where it is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in somebody's strings
            return Source(file, text, ast.parse(text, file))
    except SyntaxError as error:
        raise SourceError(f"{file}:{error.lineno}: not valid Python here: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceError(f"{file}: cannot be parsed: {error}") from error


def read_source(file: Path | str) -> Source:
    return parsed(read_text(file), str(Path(file)))


def together(sources: Sequence[Source]) -> list[Source]:
    """Each with the files that it imports or is imported by, straight or by way of others: those of one program."""
    names = [_stem(each.file) for each in sources]
    group = list(range(len(sources)))
    for place, each in enumerate(sources):
        imported = _imported(each.tree)
        for other, name in enumerate(names):
            if other != place and name in imported and group[other] != group[place]:
                old, new = group[other], group[place]
                group = [new if one == old else one for one in group]
    alone = {place for place, number in enumerate(group) if group.count(number) == 1}
    return [
        each
        if place in alone
        else replace(each, beside=tuple(o for at, o in enumerate(sources) if at != place and group[at] == group[place]))
        for place, each in enumerate(sources)
    ]


def _stem(file: str) -> str:
    path = Path(file)
    return path.parent.name if path.stem == "__init__" else path.stem


def _imported(tree: ast.Module) -> set[str]:
    """All parts of the names of modules that it imports, or may import."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(part for each in node.names for part in each.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            found.update((node.module or "").split("."), (each.name for each in node.names))
    return found


def read_text(file: Path | str) -> str:
    path = Path(file)
    try:
        raw = path.read_bytes()
        if len(raw) > _LARGEST:
            raise SourceError(f"{path}: left out, {len(raw)} bytes are too many for a program")
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        return io.TextIOWrapper(io.BytesIO(raw), encoding=encoding, newline=None).read()
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise SourceError(f"{path}: cannot be read as text: {error}") from error


def read_sources(folder: Path | str) -> list[Source]:
    """The text of the program that a run folder keeps. What cannot be read is left out: no run stands or falls
    with it."""
    found: dict[str, Source] = {}
    for told in _kept(folder):
        try:
            if "text" in told:
                found[told["file"]] = parsed(told["text"], told["file"])
        except (ValueError, TypeError, KeyError, SourceError):
            continue
    return list(found.values())


def read_settings(folder: Path | str) -> dict[str, dict[str, Any]]:
    """File -> what plain names of its module were bound to when the program ended."""
    return {
        str(told["file"]): told["settings"]
        for told in _kept(folder)
        if isinstance(told.get("settings"), dict) and "file" in told
    }


def _kept(folder: Path | str) -> Iterator[dict[str, Any]]:
    """Each line of the file of a run folder that holds the program, as far as it can be read."""
    try:
        lines = (Path(folder) / SOURCES).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        try:
            told = json.loads(line)
        except ValueError:
            continue  # cut off where the program was killed
        if isinstance(told, dict):
            yield told


def python_files(paths: Iterable[Path | str]) -> list[Path]:
    """The files named, and the Python files below the folders named. What is hidden or generated is passed over."""
    found: dict[Path, None] = {}
    for given in paths:
        path = Path(given)
        if not path.exists():
            raise SourceError(f"{path}: no such file or folder")
        if path.is_file():
            found[path] = None
            continue
        for folder, inside, files in os.walk(path):
            # An environment of Python has its pyvenv.cfg at its top.
            inside[:] = sorted(
                each
                for each in inside
                if not each.startswith(".")
                and each not in _SKIPPED
                and not os.path.exists(os.path.join(folder, each, "pyvenv.cfg"))
            )
            found |= {Path(folder, each): None for each in sorted(files) if each.endswith(".py")}
    return list(found)


def _comments(text: str) -> Iterator[tuple[int, str]]:
    if "rldebug:" not in text:
        return
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return
