"""The corpus of planted bugs is what it says: enough of it, every substitution fits, every label was measured."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from rldebug import catalogue
from rldebug.benchmark.choose import tenth
from rldebug.benchmark.corpus import HALVES, Corpus, read_corpus
from rldebug.benchmark.measure import KINDS, by_program, faults, kind
from rldebug.benchmark.program import changed_texts
from rldebug.benchmark.shelf import peers

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ZOO = Path(__file__).parent.parent / "bench" / "bugs"


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read_corpus(ZOO / "corpus")


@pytest.fixture(scope="module")
def runnable(corpus: Corpus) -> Corpus:
    """What can be looked at here: a bug in a library needs the library."""
    bases = tuple(each for each in corpus.bases if not each.missing())
    names = {each.name for each in bases}
    return Corpus(corpus.folder, bases, tuple(each for each in corpus.cases if each.base.name in names))


def test_there_are_enough_programs_in_enough_styles(corpus):
    assert len(corpus.bugs) >= 250
    assert len(corpus.controls) >= 80
    assert len(corpus.bases) >= 16
    assert len({each.env for each in corpus.bases}) >= 8
    assert len({each.style for each in corpus.bases}) >= 8
    lacking = Counter(each.lacks for each in corpus.controls)
    assert lacking["budget"] >= 10
    assert lacking["hard environment"] >= 3


def test_both_halves_hold_every_common_component(corpus):
    for half in HALVES:
        part = corpus.only(half=half)
        assert len(part.bugs) >= 100
        assert len(part.controls) >= 40
    common = [name for name, count in Counter(each.components[0] for each in corpus.bugs).items() if count >= 8]
    for name in common:
        assert {each.base.half for each in corpus.bugs if each.components[0] == name} == set(HALVES), name


def test_every_substitution_fits_and_leaves_a_program(runnable):
    for case in runnable.cases:
        changed_texts(case)  # raises with the case and the text that does not fit


def test_no_program_gives_itself_away(corpus):
    for base in corpus.bases:
        if not base.copies:  # those are rldebug's own algorithms, and say so
            for file in base.folder.glob("*.py"):
                text = file.read_text(encoding="utf-8").lower()
                assert "rldebug" not in text, file
                assert "planted" not in text, file


def test_every_code_is_in_the_catalogue(corpus):
    known = {each.code for each in catalogue.rules()}
    assert {code for each in corpus.bugs for code in each.codes} - known == set()
    assert sum(bool(each.codes) for each in corpus.bugs) >= 100


def test_every_program_was_measured_and_is_what_its_label_says(runnable):
    measured = by_program(runnable)
    wrong = {each.program: said for each in runnable.cases if (said := faults(each, measured))}
    assert wrong == {}


def test_every_bug_was_run_with_several_seeds_and_every_kind_is_there(runnable):
    measured = by_program(runnable)
    assert {each.program for each in runnable.bugs if len(measured[each.program]) < 3} == set()
    kinds = Counter(kind(each, measured) for each in runnable.bugs)
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) >= 10


def test_every_published_fault_is_planted_or_has_a_reason(corpus):
    with (ZOO / "sources.toml").open("rb") as file:
        told = tomllib.load(file)
    groups = told["published"]
    published = {*groups["realbugs"]}
    published |= {f"{name} {each}" for name in ("RLMutation", "muPRL", "DRLinter") for each in groups[name]}
    planted = {source for each in corpus.bugs for source in each.sources}
    assert planted - published - {"class"} == set(), "a source that nobody published"
    assert published - planted - set(told["reasons"]) == set(), "neither planted nor excused"
    assert planted & set(told["reasons"]) == set(), "planted, and excused as well"
    assert all(len(reason.split()) >= 4 for reason in told["reasons"].values())


def test_the_operators_are_planted_in_a_library_too(corpus):
    inside = {s for each in corpus.bugs for s in each.sources if any("/" in change.file for change in each.changes)}
    assert len([each for each in inside if each.startswith("RLMutation")]) >= 6


def test_the_quick_tenth_covers_most_components_and_both_halves(runnable):
    part = tenth(runnable)
    assert len(runnable.bugs) // 10 <= len(part.bugs) <= len(runnable.bugs) // 10 + 1
    assert len({each.components[0] for each in part.bugs}) >= 8
    assert {each.base.half for each in part.cases} == set(HALVES)


def test_the_peers_are_there():
    assert {"gymnasium-checker", "sb3-checker", "detect-anomaly", "return-interval", "rlexplorer"} <= set(
        peers(ZOO / "corpus")
    )
