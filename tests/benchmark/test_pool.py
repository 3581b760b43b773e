from rldebug.benchmark.corpus import read_corpus
from rldebug.benchmark.measure import measure, programs
from rldebug.benchmark.pool import spread
from tests.benchmark import tiny


def test_tasks_are_spread_over_processes_and_each_comes_back_with_its_result(tmp_path):
    tasks = programs(read_corpus(tiny.write(tmp_path)), 2)
    found = {(case.id, case.seed): result.score for case, result in spread(measure, tasks, 2)}
    assert found == {(each.id, each.seed): measure(each).score for each in tasks}
