"""Tasks on the cores of this machine: all of them come back, also where workers are killed."""

from rldebug.benchmark.corpus import read_corpus
from rldebug.benchmark.measure import measure, programs
from rldebug.campaign.pool import spread
from rldebug.campaign.task import Failed
from tests.benchmark import tiny
from tests.campaign.work import Number, squared, tries


def test_tasks_are_spread_over_processes_and_each_comes_back_with_its_result(tmp_path):
    tasks = programs(read_corpus(tiny.write(tmp_path)), 2)
    found = {(case.id, case.seed): result.score for case, result in spread(measure, tasks, 2, warm=())}
    assert found == {(each.id, each.seed): measure(each).score for each in tasks}


def test_a_task_whose_worker_is_killed_is_tried_again_and_one_that_always_kills_is_reported(tmp_path):
    folder = str(tmp_path)
    tasks = [Number(2, folder, deadly=1), Number(3, folder, deadly=99), Number(4, folder), Number(-5, folder)]
    found = {task.value: result for task, result in spread(squared, tasks, 2, warm=())}
    assert found[2] == {"squared": 4}
    assert found[4] == {"squared": 16}
    assert found[3] == Failed("the process that did it was killed by SIGKILL, 3 times")
    assert found[-5] == Failed("ValueError: -5 is below 0")  # what raises would raise again
    assert [tries(tmp_path, each) for each in (2, 3, 4, -5)] == [2, 3, 1, 1]
