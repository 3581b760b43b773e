from rldebug.evidence.run import Run
from rldebug.rules.policy_loss.nonfinite_loss import NonfiniteLoss
from tests.judge import fires, not_enough, quiet

NAN = float("nan")


def test_fires_when_the_loss_is_not_finite_and_its_ingredients_are():
    run = Run.from_series(
        {
            "value/mean": [0.1, 0.1],
            "advantage/mean": [0.0, 0.0],
            "loss/policy": [0.1, NAN],
            "grad/norm": [0.5, NAN],
            "step/norm": [0.1, NAN],
            "weight/norm": [7.0, NAN],
        }
    )
    finding = fires(NonfiniteLoss(), run)
    assert finding.severity == "error"
    assert "policy" in finding.message


def test_only_a_note_when_the_loop_skips_such_a_batch():
    run = Run.from_series(
        {"loss/policy": [0.1, NAN, 0.1], "grad/norm": [0.5, 0.5, 0.5], "weight/norm": [7.0, 7.0, 7.0]}
    )
    assert fires(NonfiniteLoss(), run).severity == "note"


def test_quiet_when_only_the_comparison_with_a_formula_is_undefined():
    quiet(NonfiniteLoss(), Run.from_series({"loss/policy": [0.1, 0.1], "loss/policy_mismatch": [NAN, NAN]}))


def test_quiet_when_the_advantage_was_first():
    quiet(NonfiniteLoss(), Run.from_series({"advantage/mean": [0.0, NAN], "loss/policy": [0.1, NAN]}))


def test_declines_without_a_loss():
    not_enough(NonfiniteLoss(), Run.from_series({"value/mean": [0.1, 0.1]}))
