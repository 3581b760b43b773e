from rldebug.evidence.run import Run
from rldebug.rules.normalisation.obs_scale import ObsScale
from tests.judge import fires, not_enough, quiet


def run(low, high, ratio=1.5, integers=0.0, readings=6):
    numbers = {"obs/min": low, "obs/max": high, "obs/entry_ratio": ratio, "obs/integers": integers}
    return Run.from_series({name: [value] * readings for name, value in numbers.items()})


def test_fires_when_observations_are_in_the_hundreds():
    assert "large" in fires(ObsScale(), run(-560.0, 430.0)).message


def test_fires_when_one_entry_dwarfs_the_others():
    assert "differ widely" in fires(ObsScale(), run(-0.001, 40.0, ratio=5e4)).message


def test_quiet_when_entries_are_of_size_one():
    quiet(ObsScale(), run(-3.0, 2.5))


def test_quiet_when_entries_are_some_tens():
    quiet(ObsScale(), run(-28.0, 28.0, ratio=28.0))


def test_quiet_when_they_are_pixels():
    quiet(ObsScale(), run(0.0, 255.0, integers=1.0))


def test_declines_on_one_rollout():
    not_enough(ObsScale(), run(-560.0, 430.0, readings=1))
