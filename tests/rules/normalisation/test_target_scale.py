from rldebug.evidence.run import Run
from rldebug.rules.normalisation.target_scale import TargetScale
from tests.judge import fires, not_enough, quiet


def run(mean, std, low, high, readings=20):
    names = ("target/mean", "target/std", "target/min", "target/max")
    return Run.from_series(
        {name: [value] * readings for name, value in zip(names, (mean, std, low, high), strict=True)}
    )


def test_fires_when_targets_are_in_the_thousands_and_says_how_to_scale():
    found = fires(TargetScale(), run(-1400.0, 300.0, -2000.0, -100.0))
    assert found.severity == "note"
    assert "0.001" in found.help


def test_fires_when_targets_are_all_but_zero():
    assert "100" in fires(TargetScale(), run(0.001, 0.002, -0.004, 0.006)).help


def test_quiet_when_targets_are_those_of_a_balanced_pole():
    quiet(TargetScale(), run(62.0, 20.0, 1.0, 100.0))


def test_quiet_when_targets_are_small_but_well_above_nothing():
    quiet(TargetScale(), run(0.0, 0.05, -0.2, 0.3))


def test_quiet_when_every_target_is_zero():
    quiet(TargetScale(), run(0.0, 0.0, 0.0, 0.0))


def test_declines_at_the_start_of_a_run():
    not_enough(TargetScale(), run(-1400.0, 300.0, -2000.0, -100.0, readings=4))
