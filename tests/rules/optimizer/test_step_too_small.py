from rldebug.evidence.run import Run
from rldebug.rules.optimizer.step_too_small import StepTooSmall
from tests.judge import fires, not_enough, quiet


def test_fires_when_steps_are_at_the_last_digit():
    run = Run.from_series({"step/log10_ratio": [-8.0] * 30, "optimizer/lr": [3e-9] * 30})
    assert fires(StepTooSmall(), run).severity == "note"


def test_quiet_when_steps_are_a_ten_thousandth():
    quiet(StepTooSmall(), Run.from_series({"step/log10_ratio": [-4.0] * 30, "optimizer/lr": [3e-4] * 30}))


def test_quiet_when_only_the_end_is_annealed_away():
    run = Run.from_series({"step/log10_ratio": [-3.0] * 20 + [-9.0] * 10, "optimizer/lr": [3e-4] * 20 + [1e-10] * 10})
    quiet(StepTooSmall(), run)


def test_declines_when_nothing_moved():
    run = Run.from_series({"step/log10_ratio": [-float("inf")] * 30, "optimizer/lr": [0.0] * 30})
    not_enough(StepTooSmall(), run)
