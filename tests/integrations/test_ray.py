"""Campaigns on Ray: the same tasks, in two processes of a cluster that is started here, with the same results."""

import importlib.util
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from rldebug.benchmark.corpus import read_corpus
from rldebug.benchmark.measure import measure, programs
from rldebug.integrations.ray import HERE, spread
from rldebug.target import TargetError
from tests.benchmark import tiny

installed = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="the extra `ray` is not installed")

# In an interpreter of its own: Ray leaves threads and sockets behind.
SCRIPT = """
import json, sys
from pathlib import Path
from rldebug.benchmark.corpus import read_corpus
from rldebug.benchmark.measure import measure, programs
from rldebug.integrations.ray import HERE, spread

tasks = programs(read_corpus(Path(sys.argv[1])), 2)
found = {f"{case.id} {case.seed}": result.score for case, result in spread(measure, tasks, HERE, 2)}
print("found", json.dumps(found))
"""


@installed
@pytest.mark.integration
def test_two_processes_of_ray_measure_what_one_measures(tmp_path):
    corpus = tiny.write(tmp_path)
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(corpus)], capture_output=True, text=True, timeout=300)
    (line,) = [each for each in done.stdout.splitlines() if each.startswith("found ")] or [done.stderr[-2000:]]
    expected = {f"{each.id} {each.seed}": measure(each).score for each in programs(read_corpus(corpus), 2)}
    assert json.loads(line.removeprefix("found ")) == expected


def test_where_no_cluster_answers_it_says_so(monkeypatch):
    def init(**how):
        raise ConnectionError("nobody there")

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=init))
    with pytest.raises(TargetError, match=r"no Ray cluster answered at 10.0.0.7:6379: ConnectionError: nobody there"):
        next(spread(measure, [], "10.0.0.7:6379", 2))


def test_without_ray_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(TargetError, match=r"pip install 'rldebug\[ray\]'"):
        next(spread(measure, [], HERE, 2))
