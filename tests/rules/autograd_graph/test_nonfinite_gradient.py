from rldebug.evidence.run import Run
from rldebug.rules.autograd_graph.nonfinite_gradient import NonfiniteGradient
from tests.judge import fires, quiet

NAN = float("nan")


def test_fires_when_the_loss_is_finite_and_the_gradient_is_not():
    run = Run.from_series(
        {
            "loss/policy": [0.1, 0.1],
            "grad/norm@actor": [0.5, NAN],
            "step/norm@actor": [0.1, NAN],
            "weight/norm@actor": [7.0, NAN],
        }
    )
    finding = fires(NonfiniteGradient(), run)
    assert (finding.severity, finding.where.tensor) == ("error", "grad/norm@actor")


def test_quiet_when_a_scaler_skipped_the_step():
    run = Run.from_series(
        {"grad/norm": [0.5, float("inf"), 0.5], "step/norm": [0.1, 0.0, 0.1], "weight/norm": [7.0, 7.0, 7.0]}
    )
    quiet(NonfiniteGradient(), run)


def test_quiet_when_the_loss_was_first():
    quiet(NonfiniteGradient(), Run.from_series({"loss/policy": [0.1, NAN], "grad/norm": [0.5, NAN]}))


def test_fires_as_a_trap_whatever_was_first():
    run = Run.from_series({"loss/policy": [NAN], "grad/norm": [NAN], "weight/norm": [NAN]})
    assert fires(NonfiniteGradient(), run).severity == "error"
