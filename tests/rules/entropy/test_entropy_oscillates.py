from rldebug.evidence.run import Run
from rldebug.rules.entropy.entropy_oscillates import EntropyOscillates
from tests.judge import fires, not_enough, quiet


def run_with(entropy, rows=64):
    return Run.from_series({"policy/entropy_rel": entropy, "batch/rows": [rows] * len(entropy)})


def test_fires_when_entropy_swings_over_most_of_its_range():
    fires(EntropyOscillates(), run_with([0.9, 0.1, 0.15, 0.85] * 15))


def test_quiet_when_entropy_falls_noisily():
    quiet(EntropyOscillates(), run_with([0.95 - 0.012 * i + (0.1 if i % 2 else -0.1) for i in range(60)]))


def test_quiet_when_it_settles_after_a_wild_start():
    quiet(EntropyOscillates(), run_with([0.9, 0.1] * 6 + [0.5] * 60))


def test_declines_on_batches_of_a_few_states():
    not_enough(EntropyOscillates(), run_with([0.9, 0.1] * 30, rows=4))


def test_declines_on_a_handful_of_readings():
    not_enough(EntropyOscillates(), run_with([0.9, 0.1] * 5))
