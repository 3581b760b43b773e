import pytest

from rldebug.benchmark.blind import Agreement, agreement
from rldebug.benchmark.corpus import CorpusError, read_corpus
from tests.benchmark import tiny


def test_agreement_counts_the_label_itself_and_those_that_are_accepted(tmp_path):
    corpus = read_corpus(tiny.write(tmp_path))
    assert agreement(corpus) is None
    (corpus.folder.parent / "blind.toml").write_text(
        '"quick/never-learns" = ["buffer", "network"]\n'
        '"quick/raises" = ["autograd-graph"]\n'
        '"quick/gae-leaks" = ["network"]\n'
    )
    assert agreement(corpus) == Agreement(cases=3, same=1, accepted=2, differ=("quick/gae-leaks",))


def test_a_blind_label_of_no_bug_is_an_error(tmp_path):
    corpus = read_corpus(tiny.write(tmp_path))
    (corpus.folder.parent / "blind.toml").write_text('"quick/other" = ["buffer"]\n')
    with pytest.raises(CorpusError, match=r"blind\.toml: no bug is called quick/other"):
        agreement(corpus)
