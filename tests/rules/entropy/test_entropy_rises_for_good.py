from rldebug.evidence.run import Run
from rldebug.rules.entropy.entropy_rises_for_good import EntropyRisesForGood
from tests.judge import fires, not_enough, quiet


def test_fires_when_entropy_rises_for_good_after_an_early_minimum():
    run = Run.from_series({"policy/entropy_rel": [0.99, 0.6] + [0.2] * 12 + [0.8] * 50})
    assert fires(EntropyRisesForGood(), run).severity == "note"


def test_quiet_when_the_rise_is_a_bump():
    quiet(EntropyRisesForGood(), Run.from_series({"policy/entropy_rel": [0.99] + [0.3] * 12 + [0.7] * 12 + [0.3] * 40}))


def test_quiet_when_entropy_falls_and_levels_out():
    quiet(EntropyRisesForGood(), Run.from_series({"policy/entropy_rel": [0.99, 0.8, 0.6] + [0.4] * 60}))


def test_quiet_when_a_low_start_rises():
    quiet(EntropyRisesForGood(), Run.from_series({"policy/entropy_rel": [0.3] * 10 + [0.9] * 50}))


def test_declines_on_a_handful_of_readings():
    not_enough(EntropyRisesForGood(), Run.from_series({"policy/entropy_rel": [0.9, 0.1, 0.8]}))
