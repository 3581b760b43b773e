"""Labels checked blind: who saw only the diff of a bug named its component; `blind.toml` keeps what was said."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rldebug.benchmark.corpus import Corpus, CorpusError, read_toml


@dataclass(frozen=True)
class Agreement:
    cases: int
    same: int  # the first choice is the label itself
    accepted: int  # the first choice is a label that is accepted
    differ: tuple[str, ...]


def agreement(corpus: Corpus) -> Agreement | None:
    """Of the blind labels with those of the corpus; None where nobody checked them."""
    file: Path = corpus.folder.parent / "blind.toml"
    if not file.is_file():
        return None
    bugs = {each.id: each for each in corpus.bugs}
    told: dict[str, list[str]] = read_toml(file)
    gone = [each for each in told if each not in bugs]
    if gone:
        raise CorpusError(f"{file.name}: no bug is called {gone[0]}")
    return Agreement(
        len(told),
        sum(bugs[each].components[0] == said[0] for each, said in told.items()),
        sum(said[0] in bugs[each].components for each, said in told.items()),
        tuple(each for each, said in told.items() if said[0] not in bugs[each].components),
    )
