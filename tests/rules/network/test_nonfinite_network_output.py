from rldebug.evidence.run import Run
from rldebug.rules.network.nonfinite_network_output import NonfiniteNetworkOutput
from tests.judge import fires, not_enough, quiet

NAN = float("nan")

CRASH = (
    "ValueError: Expected parameter logits (Tensor of shape (4, 2)) of distribution Categorical() to satisfy the "
    "constraint IndependentConstraint(Real(), 1), but found invalid values:\ntensor([[nan, nan]])"
)


def test_fires_when_an_output_is_not_finite_and_the_weights_are():
    run = Run.from_series(
        {
            "obs/mean": [0.0] * 3,
            "policy/entropy": [0.7, 0.7, NAN],
            "loss/policy": [0.1, 0.1, NAN],
            "weight/norm": [7.0, 7.0, NAN],
        }
    )
    finding = fires(NonfiniteNetworkOutput(), run)
    assert (finding.severity, finding.where.update, finding.confidence) == ("error", 2, 0.95)


def test_fires_less_surely_when_updates_in_between_were_not_recorded():
    run = Run.from_series(
        {"value/mean": [0.1, 0.1, NAN], "loss/value": [0.1, 0.1, NAN], "weight/norm": [7.0, 7.0, NAN]}, every=16
    )
    finding = fires(NonfiniteNetworkOutput(), run)
    assert finding.confidence < 0.7
    assert "all finite at update 16" in finding.seen


def test_fires_when_the_run_ended_in_an_invalid_distribution_that_no_reading_shows():
    run = Run.from_series({"value/mean": [0.1, 0.2]}, meta={"error": CRASH})
    assert "ended" in fires(NonfiniteNetworkOutput(), run).message


def test_quiet_when_the_ratio_overflows_but_is_a_number():
    run = Run.from_series(
        {"policy/ratio_mean": [1.0, float("inf")], "value/mean": [0.1, 0.1], "weight/norm": [7.0, 7.0]}
    )
    quiet(NonfiniteNetworkOutput(), run)


def test_quiet_when_the_run_ended_in_another_error():
    quiet(NonfiniteNetworkOutput(), Run.from_series({"value/mean": [0.1]}, meta={"error": "KeyError: 'nan'"}))


def test_quiet_when_the_observation_was_first():
    quiet(NonfiniteNetworkOutput(), Run.from_series({"obs/mean": [0.0, NAN], "value/mean": [0.1, NAN]}))


def test_declines_without_any_output():
    not_enough(NonfiniteNetworkOutput(), Run.from_series({"loss/value": [0.1, 0.1]}))
