from rldebug.evidence.run import Run
from rldebug.rules.advantage.nonfinite_advantage import NonfiniteAdvantage
from tests.judge import fires, quiet

NAN = float("nan")


def test_fires_when_a_batch_of_one_row_is_normalised():
    run = Run.from_series(
        {
            "value/mean": [0.1] * 4,
            "target/mean": [0.5] * 4,
            "advantage/mean": [0.0, 0.0, 0.0, NAN],
            "batch/rows": [85.0, 85.0, 85.0, 1.0],
            "loss/policy": [0.1, 0.1, 0.1, NAN],
        }
    )
    finding = fires(NonfiniteAdvantage(), run)
    assert "one row" in finding.message
    assert (finding.severity, finding.where.update) == ("error", 3)


def test_fires_when_the_standard_deviation_is_zero():
    run = Run.from_series({"advantage/mean": [0.0, NAN], "batch/rows": [64.0, 64.0], "loss/policy": [0.1, NAN]})
    assert "epsilon" in fires(NonfiniteAdvantage(), run).help


def test_quiet_when_the_target_was_first():
    quiet(NonfiniteAdvantage(), Run.from_series({"target/mean": [0.5, NAN], "advantage/mean": [0.0, NAN]}))
