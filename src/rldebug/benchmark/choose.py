"""The quick benchmark: a tenth of the programs, each component and each base in its share."""

from __future__ import annotations

from collections.abc import Sequence

from rldebug.benchmark.corpus import Case, Corpus

ONE_IN = 10


def tenth(corpus: Corpus) -> Corpus:
    """Every tenth bug in the order of labels, and every tenth control in the order of bases: the same each time."""
    runnable = [each for each in corpus.cases if not each.base.missing()]
    bugs = sorted((each for each in runnable if each.bug), key=lambda each: (each.components[0], each.name, each.id))
    controls = sorted((each for each in runnable if not each.bug), key=lambda each: (each.name, each.id))
    kept = {each.id for each in (*_every_tenth(bugs), *_every_tenth(controls))}
    cases = tuple(each for each in corpus.cases if each.id in kept)
    bases = {each.base.name for each in cases}
    return Corpus(corpus.folder, tuple(each for each in corpus.bases if each.name in bases), cases)


def _every_tenth(cases: Sequence[Case]) -> Sequence[Case]:
    return cases[ONE_IN // 2 :: ONE_IN] or cases[:1]
