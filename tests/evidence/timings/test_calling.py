from rldebug.evidence.timing import Slice, Spot
from rldebug.evidence.timings.calling import stepped_at
from rldebug.finding import Where

STEP = Spot("train.py", "main", 20, "user")
OWN = Spot("maze.py", "Maze.step", 7, "user", role="environment")


def test_it_is_the_line_of_the_loop_and_not_of_the_users_own_environment():
    assert stepped_at([Slice(1.0, 1, (STEP, OWN))]) == Where(file="train.py", line=20)


def test_a_function_that_is_handed_the_environment_is_no_part_of_it():
    collect = Spot("train.py", "collect", 9, "user", role="vector")
    inner = Spot("train.py", "main.<locals>.collect", 12, "user", role="vector")
    assert stepped_at([Slice(1.0, 1, (STEP, collect, OWN)), Slice(0.4, 1, (STEP, inner, OWN))]).line == 9


def test_it_is_not_known_without_a_line_of_the_users():
    assert stepped_at([Slice(1.0, 1, (Spot("/lib/env.py", "Env.step", 1, "environment"),))]) == Where()
