from rldebug.evidence.run import Run
from rldebug.rules.environment.stepped_after_end import SteppedAfterEnd
from tests.judge import fires, quiet

LENGTHS = {"episode/length_max": [200.0], "episode/count": [1.0]}


def env(after, again):
    return {"env": {"stepped_after_end": after, "ended_again": again}}


def test_fires_when_steps_after_an_end_keep_being_ends():
    run = Run.from_series(LENGTHS, facts=[env(0, 0), env(10, 10), env(60, 60)])
    found = fires(SteppedAfterEnd(), run)
    assert found.where.update == 1
    assert "60 steps" in found.seen


def test_quiet_when_every_end_is_followed_by_a_reset():
    quiet(SteppedAfterEnd(), Run.from_series(LENGTHS, facts=[env(0, 0), env(0, 0)]))


def test_quiet_when_the_environment_resets_itself_inside_step():
    quiet(SteppedAfterEnd(), Run.from_series(LENGTHS, facts=[env(900, 30)]))


def test_quiet_when_every_step_of_a_bandit_is_an_end():
    quiet(SteppedAfterEnd(), Run.from_series({"episode/length_max": [1.0]}, facts=[env(900, 900)]))


def test_quiet_when_the_loop_took_one_step_too_many_at_its_close():
    quiet(SteppedAfterEnd(), Run.from_series(LENGTHS, facts=[env(2, 2)]))
