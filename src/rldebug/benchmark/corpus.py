"""The corpus as it lies on disk: healthy base programs, and the substitutions that make bugs and benign variations.

corpus/<base>/base.toml       what the program is, how it is run, where it prints its score
corpus/<base>/*.py            the program itself, healthy
corpus/<base>/bugs.toml       one mistake each
corpus/<base>/controls.toml   variations that are right as they are
corpus/<base>/measured.jsonl  what running them gave: `rldebug bench --measure`
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from rldebug.finding import COMPONENTS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Half = Literal["development", "validation"]
HALVES: tuple[Half, ...] = ("development", "validation")
LACKS = ("budget", "hard environment")  # why a healthy program may fail to learn
HEALTHY = "healthy"  # the name of a base as it is
HEALTHY_SEEDS = (1, 2, 3)  # each is a control of its own


class CorpusError(Exception):
    """The corpus is not as it should be: says where, and what was expected."""


@dataclass(frozen=True)
class Change:
    """Exact text that occurs once in a file, and what stands there instead."""

    old: str
    new: str
    file: str  # of the base, or below site-packages
    nth: int = 0  # where it occurs several times: which of them, from 1


@dataclass(frozen=True)
class Base:
    name: str
    folder: Path
    title: str
    style: str
    algorithm: str
    env: str
    half: Half
    entry: str
    score: re.Pattern[str]  # on what it prints; the last match counts
    random: float  # the score of acting at random
    learned: float  # what a healthy run reaches
    args: tuple[str, ...] = ()
    seed: tuple[Change, ...] = ()
    cpu_seconds: float = 40.0
    needs: tuple[str, ...] = ()
    copies: Mapping[str, str] = field(default_factory=dict)  # file of the program -> file of an installed package
    fresh: bool = False  # starts processes of its own: needs an interpreter of its own
    probe: Mapping[str, Any] = field(default_factory=dict)
    verify: Mapping[str, str] = field(default_factory=dict)
    env_check: Mapping[str, str] = field(default_factory=dict)  # a hand-written environment
    watch: tuple[Change, ...] = ()  # what a user adds so that `rldebug.watch` sees the run

    def missing(self) -> str:
        """Why it cannot run here, or nothing."""
        absent = [each for each in self.needs if importlib.util.find_spec(each) is None]
        return f"{', '.join(absent)} not installed" if absent else ""


@dataclass(frozen=True)
class Case:
    """One program: a base, healthy or changed, with one seed."""

    base: Base
    name: str
    bug: bool
    changes: tuple[Change, ...]
    why: str
    seed: int = 1
    components: tuple[str, ...] = ()  # the right label first, then those accepted too
    codes: tuple[str, ...] = ()  # of the catalogue; empty where it has none for this yet
    sources: tuple[str, ...] = ()
    crash: str = ""  # the exception it is meant to raise, or "hang"
    lacks: str = ""  # of a control that does not learn: why
    learned: float = 0.0
    random: float = 0.0

    @property
    def program(self) -> str:
        """The same for all seeds."""
        return f"{self.base.name}/{self.name}"

    @property
    def id(self) -> str:
        return self.program if self.bug or self.name != HEALTHY else f"{self.program}@{self.seed}"


@dataclass(frozen=True)
class Corpus:
    folder: Path
    bases: tuple[Base, ...]
    cases: tuple[Case, ...]

    @property
    def bugs(self) -> tuple[Case, ...]:
        return tuple(each for each in self.cases if each.bug)

    @property
    def controls(self) -> tuple[Case, ...]:
        return tuple(each for each in self.cases if not each.bug)

    def only(self, patterns: Sequence[str] = (), half: str | None = None) -> Corpus:
        """The cases that a pattern names (`base`, `base/name`, with * and ?), of one half."""
        if half not in (None, *HALVES):
            raise CorpusError(f"half is {half!r}, expected {' or '.join(HALVES)}")
        for each in patterns:
            if not any(_named(case, each) for case in self.cases):
                raise CorpusError(f"no case in {self.folder} is called {each}: expected base, base/name or a pattern")
        kept = [
            each
            for each in self.cases
            if (not patterns or any(_named(each, one) for one in patterns)) and half in (None, each.base.half)
        ]
        if not kept:
            raise CorpusError(f"no program is left: none of those named is in the {half} half")
        bases = {each.base.name for each in kept}
        return Corpus(self.folder, tuple(each for each in self.bases if each.name in bases), tuple(kept))


def read_corpus(folder: Path) -> Corpus:
    """Everything in it, checked: each substitution matches once, each label is in the vocabulary."""
    if not folder.is_dir():
        raise CorpusError(f"{folder}: no such folder; expected a corpus of programs, one folder each")
    bases: list[Base] = []
    cases: list[Case] = []
    for file in sorted(folder.glob("*/base.toml")):
        base = _base(file)
        bases.append(base)
        cases += _cases(base)
    if not bases:
        raise CorpusError(f"{folder} holds no */base.toml: expected a corpus of programs, one folder each")
    return Corpus(folder, tuple(bases), tuple(cases))


def _named(case: Case, pattern: str) -> bool:
    return any(fnmatchcase(each, pattern) for each in (case.base.name, case.program, case.id))


def _base(file: Path) -> Base:
    data = read_toml(file)
    where = f"{file.parent.name}/{file.name}"
    known = {each.name: each for each in fields(Base) if each.name not in ("name", "folder")}
    for each in (each for each in data if each not in known):
        near = get_close_matches(each, known, n=1)
        raise CorpusError(f"{where}: nothing is called {each}" + (f"; did you mean {near[0]}?" if near else ""))
    missing = [each for each, given in known.items() if each not in data and _required(given)]
    if missing:
        raise CorpusError(f"{where}: {', '.join(missing)} missing")
    try:
        data["score"] = re.compile(data["score"])
        half, entry = data["half"], data["entry"]
        base = Base(
            name=file.parent.name,
            folder=file.parent,
            seed=_changes(data.pop("seed", ()), entry),
            watch=_changes(data.pop("watch", ()), entry),
            args=tuple(data.pop("args", ())),
            needs=tuple(data.pop("needs", ())),
            **data,
        )
    except re.error as error:
        raise CorpusError(f"{where}: score is no regular expression: {error}") from error
    if half not in HALVES:
        raise CorpusError(f"{where}: half is {half!r}, expected {' or '.join(HALVES)}")
    if not (base.folder / entry).is_file():
        raise CorpusError(f"{where}: entry is {entry!r}, and there is no such file")
    if base.score.groups != 1:
        raise CorpusError(f"{where}: score has {base.score.groups} groups, expected one: the number")
    if base.learned <= base.random:
        raise CorpusError(f"{where}: learned is {base.learned:g}, expected more than random, {base.random:g}")
    if base.args and not any("{seed}" in each for each in base.args) and not base.seed:
        raise CorpusError(f"{where}: neither args nor [[seed]] says where the seed goes")
    return base


def _required(given: Field[Any]) -> bool:
    return given.default is MISSING and given.default_factory is MISSING


def _cases(base: Base) -> Iterable[Case]:
    for seed in HEALTHY_SEEDS:
        healthy = Case(base, HEALTHY, bug=False, changes=(), why="the program as it is", seed=seed)
        yield _filled(healthy)
    seen = {HEALTHY}
    for kind in ("bug", "control"):
        file = base.folder / f"{kind}s.toml"
        entries = read_toml(file).get(kind, []) if file.is_file() else []
        for place, data in enumerate(entries, 1):
            name = data.get("name", f"number {place}")
            where = f"{base.name}/{file.name}, {name}"
            if name in seen:
                raise CorpusError(f"{where}: the name occurs twice")
            seen.add(name)
            try:
                changes = _changes(data.pop("replace"), base.entry)
                lists: dict[str, Any] = {key: tuple(data.pop(key, ())) for key in ("components", "codes", "sources")}
                case = Case(base, bug=kind == "bug", changes=changes, **lists, **data)
            except (KeyError, TypeError) as error:
                raise CorpusError(f"{where}: {type(error).__name__}: {error}") from error
            _check(case, where)
            yield _filled(case)


def _filled(case: Case) -> Case:
    return replace(case, learned=case.learned or case.base.learned, random=case.random or case.base.random)


def _check(case: Case, where: str) -> None:
    if case.bug:
        unknown = [each for each in case.components if each not in COMPONENTS]
        if unknown or not case.components:
            given, known = list(case.components), ", ".join(COMPONENTS)
            raise CorpusError(f"{where}: components are {given}, expected some of {known}")
        if not case.sources:
            raise CorpusError(f"{where}: sources is empty, expected where the bug comes from")
    elif case.lacks and case.lacks not in LACKS:
        raise CorpusError(f"{where}: lacks is {case.lacks!r}, expected {' or '.join(LACKS)}")
    if not case.why:
        raise CorpusError(f"{where}: why is empty, expected a sentence")


def _changes(entries: Iterable[Mapping[str, Any]], entry: str) -> tuple[Change, ...]:
    return tuple(Change(**{"file": entry, **each}) for each in entries)


def read_toml(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as opened:
            data: dict[str, Any] = tomllib.load(opened)
            return data
    except tomllib.TOMLDecodeError as error:
        raise CorpusError(f"{file.parent.name}/{file.name}: {error}") from error
