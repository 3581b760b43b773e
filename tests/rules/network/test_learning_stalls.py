from rldebug.evidence.run import Run
from rldebug.rules.network.learning_stalls import LearningStalls
from tests.judge import fires, not_enough, quiet


def run(step, rate=lambda i: 1e-3, n=60):
    return Run.from_series({"step/norm": [step(i) for i in range(n)], "optimizer/lr": [rate(i) for i in range(n)]})


def test_fires_when_steps_die_while_the_rate_stays():
    assert fires(LearningStalls(), run(lambda i: 0.1 if i < 30 else 1e-6)).severity == "note"


def test_quiet_when_the_rate_is_annealed():
    quiet(LearningStalls(), run(lambda i: 0.1 * 0.7**i, lambda i: 1e-3 * 0.7**i))


def test_quiet_when_steps_shrink_tenfold():
    quiet(LearningStalls(), run(lambda i: 0.1 if i < 30 else 0.01))


def test_quiet_when_learning_goes_on_now_and_then():
    quiet(LearningStalls(), run(lambda i: 0.1 if i < 30 or i % 4 == 0 else 1e-6))


def test_declines_on_a_handful_of_readings():
    not_enough(LearningStalls(), run(lambda i: 1e-9, n=20))
