from typing import Any

from rldebug.evidence.timing import Environment, Timing
from rldebug.rules.performance.evaluation_dominates import EvaluationDominates
from tests.judge import quiet
from tests.rules.timings import ENVIRONMENT, on, points_at_line, timing

CODE = """
while True:
    learn()  # learn
    for _ in range(20):
        evaluate(actor)  # evaluate
"""


def run(seconds: float = 5.0, first_update: int = 10, **fields: Any) -> Timing:
    evaluated = Environment("CartPole-v1", steps=8_000, calls=8_000, evaluation=True, first_update=first_update)
    slices = [on("evaluate", seconds, part="evaluation")]
    return timing(CODE, slices, **({"environments": (ENVIRONMENT, evaluated)} | fields))


def test_fires_where_half_of_the_run_is_evaluation():
    finding = points_at_line(EvaluationDominates(), run(), "evaluate")
    assert finding.message == "evaluation takes 50% of the run"
    assert "8 000 env steps beside 10 000" in finding.seen
    assert "half as often" in finding.expected
    assert abs(finding.speedup - 10 / 7.5) < 0.01


def test_quiet_where_it_is_a_tenth():
    quiet(EvaluationDominates(), run(seconds=1.0))


def test_quiet_for_one_evaluation_at_the_end():
    quiet(EvaluationDominates(), run(first_update=1_000))


def test_quiet_where_nothing_is_learned():
    quiet(EvaluationDominates(), run(updates=0))
