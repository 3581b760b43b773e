from rldebug.rules.preprocessing.noise_drowns_observation import NoiseDrownsObservation
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_it_is_not_learned():
    found = fires(
        NoiseDrownsObservation(),
        ladder(passed("observed-action-reward"), chances("noisy-observation", [0.5, 0.5], [0.5, 0.5])),
    )
    assert "50% for left" in found.seen


def test_quiet_where_smaller_demands_fail_already():
    quiet(
        NoiseDrownsObservation(),
        ladder(chances("observed-action-reward", [0.5, 0.5], [0.5, 0.5]), passed("noisy-observation")),
    )
