"""The benchmark on Ray: the same tasks, in two processes of a cluster that is started here."""

import sys

import pytest

from rldebug.benchmark.corpus import read_corpus
from rldebug.benchmark.measure import measure, programs
from rldebug.integrations.ray import HERE, spread
from rldebug.target import TargetError
from tests.benchmark import tiny


@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_two_processes_of_ray_measure_what_one_measures(tmp_path):
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    corpus = read_corpus(tiny.write(tmp_path))
    tasks = programs(corpus, 2)
    found = {(case.id, case.seed): result.score for case, result in spread(measure, tasks, HERE, 2)}
    assert found == {(each.id, each.seed): measure(each).score for each in tasks}


def test_without_ray_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(TargetError, match=r"pip install 'rldebug\[ray\]'"):
        next(spread(measure, [], HERE, 2))
