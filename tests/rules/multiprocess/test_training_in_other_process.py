from rldebug.rules.multiprocess.training_in_other_process import TrainingInOtherProcess
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import learn, script
from tests.watched import watched

rule = TrainingInOtherProcess()
STARTED = {"kind": "thread", "what": "process", "times": 2, "line": ["train.py", 210]}


def test_fires_where_nothing_is_updated_here():
    found = fires(rule, script(notes=[STARTED], updates=0))
    assert found.severity == "note"
    assert found.where.line == 210


def test_quiet_where_this_process_learns_too():
    quiet(rule, script(notes=[STARTED], updates=10))


def test_not_enough_without_processes():
    assert "process" in not_enough(rule, watched(lambda: learn(steps=20))[1])
