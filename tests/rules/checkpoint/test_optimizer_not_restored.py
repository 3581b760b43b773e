from rldebug.rules.checkpoint.optimizer_not_restored import OptimizerNotRestored
from tests.judge import fires, not_enough, quiet
from tests.programs.resumed import Learner, legs
from tests.watched import watched

rule = OptimizerNotRestored()


def test_fires_when_the_states_stay_in_the_file():
    found = fires(rule, watched(legs(take=lambda learner, saved: learner.load_state_dict(saved["nets"])))[1])
    assert found.severity == "warning"
    assert "holds 2 states of optimizers, 0 were given back" in found.seen


def test_quiet_when_they_are_given_back():
    quiet(rule, watched(legs())[1])


def test_quiet_when_the_file_has_none():
    program = legs(lambda learner: learner.state_dict(), lambda learner, saved: learner.load_state_dict(saved))
    quiet(rule, watched(program)[1])


def test_declines_when_nothing_is_loaded():
    not_enough(rule, watched(lambda: Learner().train_on())[1])
