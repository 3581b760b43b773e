from rldebug.rules.optimizer.learning_rate_absurd import LearningRateAbsurd
from tests.judge import fires, quiet
from tests.programs.actor_critic import script

rule = LearningRateAbsurd()


def test_fires_on_steps_of_a_tenth():
    assert "10% of their size" in fires(rule, script(rate=0.3, change=0.1)).seen


def test_fires_on_next_to_nothing():
    assert "in 50 steps" in fires(rule, script(rate=1e-9)).seen


def test_quiet_on_a_usual_rate():
    quiet(rule, script())


def test_quiet_where_the_steps_are_small_all_the_same():
    quiet(rule, script(rate=0.3))
