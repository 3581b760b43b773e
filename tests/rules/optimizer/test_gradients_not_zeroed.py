from rldebug.evidence.run import Run
from rldebug.rules.optimizer.gradients_not_zeroed import GradientsNotZeroed
from tests.judge import fires, not_enough, quiet


def run(*verdicts):
    numbers = {"grad/norm": [1.0 + i for i in range(len(verdicts))]}
    return Run.from_series(numbers, facts=[{"zeroing": each} for each in verdicts])


def test_fires_when_gradients_are_always_added_to():
    assert fires(GradientsNotZeroed(), run(*[{"optimizer": False}] * 5)).severity == "error"


def test_names_the_one_of_two_optimizers():
    found = fires(GradientsNotZeroed(), run(*[{"actor": False, "critic": True}] * 5))
    assert "actor" in found.message


def test_quiet_when_they_are_cleared():
    quiet(GradientsNotZeroed(), run(*[{"optimizer": True}] * 5))


def test_quiet_when_they_are_cleared_now_and_then():
    quiet(GradientsNotZeroed(), run(*[{"optimizer": False}, {"optimizer": True}] * 4))


def test_declines_after_a_look_or_two():
    not_enough(GradientsNotZeroed(), run(*[{"optimizer": False}] * 2))
