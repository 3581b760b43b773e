from rldebug.evidence.run import Run
from rldebug.rules.environment.nonfinite_observation import NonfiniteObservation
from tests.judge import fires, quiet

NAN = float("nan")


def test_fires_when_the_observation_is_the_first_that_is_not_finite():
    run = Run.from_series(
        {
            "obs/mean": [0.0, 0.1, NAN],
            "reward/mean": [1.0, 1.0, NAN],
            "value/mean": [0.1, 0.1, NAN],
            "loss/value": [0.1, 0.1, NAN],
        }
    )
    finding = fires(NonfiniteObservation(), run)
    assert (finding.severity, finding.where.update, finding.where.tensor) == ("error", 2, "obs/mean")


def test_fires_when_the_environment_returned_it():
    run = Run.from_series({"env/obs_nonfinite": [0.0, 0.2], "weight/norm": [7.0, NAN]})
    assert "20%" in fires(NonfiniteObservation(), run).seen


def test_blames_the_preprocessing_when_the_environment_was_fine():
    run = Run.from_series({"env/obs_nonfinite": [0.0, 0.0], "obs/mean": [0.1, NAN], "loss/total": [0.1, NAN]})
    assert "preprocessing" in fires(NonfiniteObservation(), run).help


def test_only_a_note_when_padded_rows_are_masked_out_later():
    run = Run.from_series({"obs/mean": [NAN] * 4, "reward/mean": [NAN] * 4, "loss/value": [0.4, 0.3, 0.2, 0.1]})
    assert fires(NonfiniteObservation(), run).severity == "note"


def test_quiet_when_observations_are_finite_and_values_are_not():
    quiet(NonfiniteObservation(), Run.from_series({"obs/mean": [0.0, 0.1], "value/mean": [0.1, NAN]}))
