from rldebug.evidence.run import Run
from rldebug.rules.network.nonfinite_weight import NonfiniteWeight
from tests.judge import fires, quiet

NAN = float("nan")


def test_fires_when_a_step_with_finite_gradients_leaves_nan():
    run = Run.from_series(
        {
            "value/mean": [0.1, 0.1],
            "loss/value": [0.1, 0.1],
            "grad/norm": [0.5, 0.5],
            "weight/norm": [7.0, NAN],
            "optimizer/lr": [1e-3, 1e-3],
        }
    )
    finding = fires(NonfiniteWeight(), run)
    assert (finding.severity, finding.where.update) == ("error", 1)
    assert "0.001" in finding.help


def test_quiet_when_the_gradient_was_first():
    run = Run.from_series({"grad/norm": [0.5, NAN], "step/norm": [0.1, NAN], "weight/norm": [7.0, NAN]})
    quiet(NonfiniteWeight(), run)


def test_quiet_when_all_weights_are_finite():
    quiet(NonfiniteWeight(), Run.from_series({"weight/norm": [7.0, 7.0, 1e9]}))
