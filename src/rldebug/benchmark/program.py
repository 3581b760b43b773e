"""A case as a program on disk: the base's files with the substitutions made, in a folder of its own."""

from __future__ import annotations

import ast
import difflib
import hashlib
import importlib.util
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from rldebug.benchmark.corpus import Base, Case, Change, CorpusError

_LEFT_OUT = ("base.toml", "bugs.toml", "controls.toml", "measured.jsonl", "__pycache__")


def changed_texts(case: Case, *, more: Iterable[Change] = ()) -> dict[str, str]:
    """Every file that differs from the base's, by its path, with the case's seed put in."""
    texts = _substituted(case, more)
    for each in case.base.seed:
        text = texts.get(each.file) or _original(case.base, each.file)
        new = each.new.replace("{seed}", str(case.seed))
        texts[each.file] = text.replace(each.old, new)  # nothing happens where a bug has taken it away
    return texts


def _substituted(case: Case, more: Iterable[Change] = ()) -> dict[str, str]:
    texts: dict[str, str] = {}
    for each in (*case.changes, *more):
        text = texts.get(each.file) or _original(case.base, each.file)
        found = text.count(each.old)
        if found != 1 and not 1 <= each.nth <= found:
            raise CorpusError(f"{case.program}: expected once in {each.file}, found {found} times: {each.old!r}")
        if each.old == each.new:
            raise CorpusError(f"{case.program}: the substitution in {each.file} changes nothing")
        parts = text.split(each.old)
        at = max(each.nth, 1)
        texts[each.file] = each.old.join(parts[:at]) + each.new + each.old.join(parts[at:])
    for file, text in texts.items():
        try:
            compile(text, file, "exec")
        except SyntaxError as error:
            raise CorpusError(f"{case.program}: {file}:{error.lineno}: {error.msg}") from error
    return texts


def arguments(case: Case) -> list[str]:
    return [each.replace("{seed}", str(case.seed)) for each in case.base.args]


def digest(case: Case, files: Iterable[str] | None = None) -> str:
    """The same for the same program text and arguments; or, of some of its files, for those and what they import."""
    texts = {**_texts(case.base), **changed_texts(case)}
    told = (sorted(texts.items()), arguments(case)) if files is None else sorted(_reached(texts, files).items())
    return hashlib.sha256(repr(told).encode()).hexdigest()[:12]


def _reached(texts: Mapping[str, str], files: Iterable[str]) -> dict[str, str]:
    """These files and those beside them that they import; a changed library is reached by all."""
    reached = {file: text for file, text in texts.items() if "/" in file}
    left = list(files)
    while left:
        file = left.pop()
        if file in reached or file not in texts:
            continue
        reached[file] = texts[file]
        for node in ast.walk(ast.parse(texts[file])):
            names = [each.name for each in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            module = node.module if isinstance(node, ast.ImportFrom) else None
            left += [f"{name.partition('.')[0]}.py" for name in (*names, *filter(None, [module]))]
    return reached


def lay_out(case: Case, folder: Path, *, more: Iterable[Change] = ()) -> None:
    """The program in a folder; a library that a substitution touches lies beside it, and shadows the installed one."""
    texts = {**_texts(case.base), **changed_texts(case, more=more)}
    for package in {each.partition("/")[0] for each in texts if "/" in each}:
        if not (case.base.folder / package).exists():
            _mirror(_installed(package), folder / package)
    for file, text in texts.items():
        place = folder / file
        place.unlink(missing_ok=True)
        place.write_text(text, encoding="utf-8")


def changed_lines(case: Case) -> dict[str, tuple[int, ...]]:
    """Of each changed file the lines that differ, as numbered in the changed program.

    Where lines were only taken away, the one that stands there now.
    """
    lines: dict[str, tuple[int, ...]] = {}
    for file, text in _substituted(case).items():
        before, after = _original(case.base, file).splitlines(), text.splitlines()
        found: list[int] = []
        for tag, _, _, start, end in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if tag != "equal":
                found += range(start + 1, max(end, start + 1) + 1)
        lines[file] = tuple(found)
    return lines


def diff(case: Case, context: int = 6) -> str:
    """The substitution as a reader would see it: a unified diff."""
    parts = []
    for file, text in _substituted(case).items():
        before, after = _original(case.base, file).splitlines(keepends=True), text.splitlines(keepends=True)
        parts.append("".join(difflib.unified_diff(before, after, file, file, n=context)))
    return "\n".join(parts)


def _texts(base: Base) -> dict[str, str]:
    """The files of the healthy program."""
    own = [each for each in sorted(base.folder.iterdir()) if each.is_file() and each.name not in _LEFT_OUT]
    copied = {name: _original(base, file) for name, file in base.copies.items()}
    return {**{each.name: each.read_text(encoding="utf-8") for each in own}, **copied}


def _original(base: Base, file: str) -> str:
    own = base.folder / file
    if own.is_file():
        return own.read_text(encoding="utf-8")
    package, slash, rest = base.copies.get(file, file).partition("/")
    if not slash or not (_installed(package) / rest).is_file():
        raise CorpusError(f"{base.name}: {file} is neither a file of the base nor one of an installed package")
    return (_installed(package) / rest).read_text(encoding="utf-8")


def _installed(package: str) -> Path:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise CorpusError(f"{package} is not installed: the bug is planted in a copy of it")
    return Path(next(iter(found.submodule_search_locations)))


def _mirror(package: Path, into: Path) -> None:
    """Links instead of copies: nothing but the changed files is new."""
    for folder, folders, files in os.walk(package):
        folders[:] = [each for each in folders if each != "__pycache__"]
        here = into / Path(folder).relative_to(package)
        here.mkdir(parents=True)
        for each in files:
            if each.endswith((".py", ".typed", ".txt", ".json", ".toml")):
                (here / each).symlink_to(Path(folder, each))
