from rldebug.evidence.run import Run
from rldebug.rules.optimizer.gradient_clipped_every_step import GradientClippedEveryStep
from tests.judge import fires, not_enough, quiet


def test_fires_when_the_norm_is_always_the_threshold():
    found = fires(GradientClippedEveryStep(), Run.from_series({"grad/norm": [0.2] + [0.5] * 40}))
    assert found.severity == "note"
    assert "0.5" in found.seen


def test_quiet_when_a_third_stays_below_the_threshold():
    quiet(GradientClippedEveryStep(), Run.from_series({"grad/norm": [0.5, 0.5, 0.3] * 15}))


def test_quiet_when_all_gradients_are_zero():
    quiet(GradientClippedEveryStep(), Run.from_series({"grad/norm": [0.0] * 40}))


def test_declines_on_a_handful_of_readings():
    not_enough(GradientClippedEveryStep(), Run.from_series({"grad/norm": [0.5] * 10}))
