from rldebug.evidence.run import Run
from rldebug.rules.entropy.deterministic_from_start import DeterministicFromStart
from tests.judge import fires, not_enough, quiet


def run_with(entropy, **more):
    return Run.from_series({"policy/entropy_rel": entropy, "policy/entropy_max": [0.69] * len(entropy), **more})


RISING = [10.0 + i + i % 3 for i in range(30)]
FLAT = [90.0 + i % 3 for i in range(30)]


def test_fires_when_the_first_policy_is_certain_and_has_much_to_learn():
    more = {"value/residual_var": [1.01, 0.9, 0.8], "episode/return_mean": RISING}
    assert fires(DeterministicFromStart(), run_with([0.05, 0.2, 0.6], **more)).severity == "warning"


def test_only_a_note_when_a_certain_policy_gets_better_and_stays_certain():
    more = {"value/residual_var": [1.01, 0.9, 0.8], "episode/return_mean": RISING}
    assert fires(DeterministicFromStart(), run_with([0.2, 0.1, 0.05], **more)).severity == "note"


def test_only_a_note_when_a_trained_policy_gets_a_new_critic():
    more = {"value/residual_var": [1.01, 0.9, 0.8], "episode/return_mean": FLAT}
    assert fires(DeterministicFromStart(), run_with([0.05, 0.1, 0.2], **more)).severity == "note"


def test_only_a_note_when_the_critic_was_trained_before():
    more = {"value/residual_var": [0.2, 0.2, 0.2], "episode/return_mean": RISING}
    assert fires(DeterministicFromStart(), run_with([0.05, 0.1, 0.2], **more)).severity == "note"


def test_only_a_note_when_there_is_no_critic_to_tell():
    assert fires(DeterministicFromStart(), run_with([0.05, 0.1, 0.2])).severity == "note"


def test_quiet_when_the_policy_starts_near_uniform_and_commits_later():
    quiet(DeterministicFromStart(), run_with([0.8, 0.1, 0.02], **{"value/residual_var": [1.0, 0.9, 0.8]}))


def test_declines_when_the_first_update_was_not_read():
    not_enough(DeterministicFromStart(), run_with([None, 0.1, 0.02]))
