import numpy as np

from rldebug.rules.evaluation.return_lost_again import ReturnLostAgain
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import learn, script
from tests.watched import watched

rule = ReturnLostAgain()


def curve(*means):
    rng = np.random.default_rng(0)
    returns = np.concatenate([rng.normal(mean, 5.0, 60) for mean in means])
    return script({"returns": returns.tolist(), "lengths": [9] * len(returns), "at": list(range(len(returns)))})


def test_fires_where_what_was_learned_is_gone():
    found = fires(rule, curve(10, 20, 60, 80, 12, 10))
    assert found.severity == "note"


def test_quiet_where_it_stays_or_has_never_been():
    quiet(rule, curve(10, 20, 60, 80, 78, 75))
    quiet(rule, curve(10, 10, 10, 10, 10, 10))
    quiet(rule, curve(10, 20, 60, 80, 50, 45))


def test_not_enough_in_a_short_program():
    assert "episodes" in not_enough(rule, watched(lambda: learn(steps=40))[1])
