from rldebug.evidence.run import Run
from rldebug.rules.value_loss.residual_variance_oscillates import ResidualVarianceOscillates
from tests.judge import fires, not_enough, quiet


def run(residual, spread=2.0, rows=64.0):
    spreads = spread if isinstance(spread, list) else [spread] * len(residual)
    return Run.from_series(
        {"value/residual_var": residual, "target/std": spreads, "batch/rows": [rows] * len(residual)}, every=16
    )


def test_fires_when_it_swings_many_times_over():
    assert "swings" in fires(ResidualVarianceOscillates(), run([0.8, 12.0, 30.0, 0.9] * 15)).seen


def test_quiet_when_it_falls_with_noise():
    quiet(ResidualVarianceOscillates(), run([1.0 / (1 + i / 5) * (1.5 if i % 2 else 0.5) for i in range(60)]))


def test_quiet_when_only_batches_of_equal_targets_look_bad():
    quiet(ResidualVarianceOscillates(), run([0.5, 20.0] * 30, spread=[3.0, 0.05] * 30))


def test_quiet_when_batches_are_tiny():
    quiet(ResidualVarianceOscillates(), run([0.8, 12.0, 30.0, 0.9] * 15, rows=2.0))


def test_quiet_when_it_is_bad_throughout():
    quiet(ResidualVarianceOscillates(), run([12.0, 30.0] * 30))


def test_declines_on_a_handful_of_readings():
    not_enough(ResidualVarianceOscillates(), run([0.8, 12.0] * 8))
