from rldebug.evidence.run import Run
from rldebug.rules.optimizer.step_changes_nothing import StepChangesNothing
from tests.judge import fires, not_enough, quiet


def test_fires_when_the_learning_rate_is_zero():
    finding = fires(StepChangesNothing(), Run.from_series({"step/unchanged": [1.0] * 12, "optimizer/lr": [0.0] * 12}))
    assert "learning rate is 0" in finding.message


def test_fires_when_steps_are_lost_though_there_is_a_learning_rate():
    run = Run.from_series(
        {
            "step/unchanged@actor": [1.0] * 12,
            "step/unchanged@critic": [0.0] * 12,
            "optimizer/lr@actor": [1e-9] * 12,
        }
    )
    assert "actor" in fires(StepChangesNothing(), run).message


def test_quiet_when_the_rate_is_annealed_to_zero():
    run = Run.from_series({"step/unchanged": [0.0] * 30 + [1.0] * 3, "optimizer/lr": [1e-3] * 30 + [0.0] * 3})
    quiet(StepChangesNothing(), run)


def test_quiet_when_the_rate_is_warmed_up_from_zero():
    quiet(StepChangesNothing(), Run.from_series({"step/unchanged": [1.0] + [0.0] * 20}))


def test_declines_when_there_was_no_gradient():
    not_enough(StepChangesNothing(), Run.from_series({"step/unchanged": [float("nan")] * 20}))
