import math

from rldebug.evidence.run import Run
from rldebug.rules.entropy.entropy_out_of_range import EntropyOutOfRange
from tests.judge import fires, not_enough, quiet

EXACT = [0.693, 0.69, 0.68, 0.66, 0.62, 0.6, 0.55, 0.5]
CARTPOLE = {"env": {"actions": 2}}


def with_distribution(given, **more):
    return Run.from_series(
        {
            "policy/entropy_given": given,
            "policy/entropy": EXACT,
            "policy/entropy_rel": [each / math.log(2) for each in EXACT],
            "policy/entropy_max": [math.log(2)] * len(EXACT),
            "batch/rows": [64] * len(EXACT),
        },
        **{"facts": CARTPOLE, **more},
    )


def test_fires_when_the_sign_is_flipped():
    finding = fires(EntropyOutOfRange(), with_distribution([-each for each in EXACT]))
    assert "opposite" in finding.seen


def test_fires_when_it_is_in_bits_and_within_the_range():
    finding = fires(EntropyOutOfRange(), with_distribution([each / math.log(2) for each in EXACT]))
    assert "bits" in finding.message
    assert finding.severity == "error"


def test_fires_when_probabilities_are_not_normalised():
    finding = fires(EntropyOutOfRange(), with_distribution([1.9, 1.7, 2.2, 1.5, 1.8, 2.5, 1.6, 1.9]))
    assert finding.severity == "error"


def test_only_a_note_when_it_is_summed_over_rows():
    finding = fires(EntropyOutOfRange(), with_distribution([64 * each for each in EXACT]))
    assert "summed" in finding.message
    assert finding.severity == "note"


def test_fires_without_a_distribution_when_the_environment_tells_the_number_of_actions():
    run = Run.from_series(
        {"policy/entropy_given": [0.99, 0.98, 0.97, 0.99, 0.98], "batch/rows": [64] * 5}, facts=CARTPOLE
    )
    assert fires(EntropyOutOfRange(), run).severity == "error"


def test_quiet_when_it_is_the_entropy():
    quiet(EntropyOutOfRange(), with_distribution(EXACT))


def test_quiet_when_the_mean_leaves_out_padded_rows():
    quiet(EntropyOutOfRange(), with_distribution([0.65, 0.69, 0.6, 0.66, 0.5, 0.6, 0.5, 0.5]))


def test_quiet_when_several_actions_per_row_add_up():
    quiet(EntropyOutOfRange(), with_distribution([3 * each for each in EXACT], facts={"env": {"actions": None}}))


def test_quiet_when_a_sampled_entropy_scatters_about_the_maximum():
    run = Run.from_series(
        {"policy/entropy_given": [0.66, 0.75, 0.62, 0.73, 0.68, 0.70], "batch/rows": [8] * 6}, facts=CARTPOLE
    )
    quiet(EntropyOutOfRange(), run)


def test_declines_when_actions_are_continuous():
    run = Run.from_series({"policy/entropy_given": [-1.0] * 9}, facts={"env": {"actions": None}})
    not_enough(EntropyOutOfRange(), run)


def test_declines_on_a_handful_of_readings():
    not_enough(EntropyOutOfRange(), Run.from_series({"policy/entropy_given": [-1.0] * 2}, facts=CARTPOLE))
