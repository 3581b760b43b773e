from rldebug.evidence.timing import Host, Timing, Window
from rldebug.evidence.timings.cores import idle, used


def test_workers_count_as_the_program_does():
    made = Timing(10.0, host=Host(cores=4), windows=(Window(0, 5, cpu=5, children_cpu=5), Window(5, 5, cpu=5)))
    assert (used(made), idle(made)) == (1.5, 2.5)


def test_nothing_is_known_where_nobody_looked():
    assert used(Timing(10.0)) is None
    assert idle(Timing(10.0, windows=(Window(0, 5),))) is None
