from rldebug.evidence.run import Run
from rldebug.rules.exploration.epsilon_never_decays import EpsilonNeverDecays
from tests.judge import fires, not_enough, quiet


def run_with(epsilon, every=32):
    return Run.from_series({"exploration/epsilon": epsilon}, every=every)


def test_fires_when_all_actions_stay_random():
    assert fires(EpsilonNeverDecays(), run_with([1.0] * 60)).severity == "warning"


def test_only_a_note_when_the_run_may_still_be_in_its_warm_up():
    assert fires(EpsilonNeverDecays(), run_with([1.0] * 12)).severity == "note"


def test_only_a_note_when_a_third_of_the_actions_is_random():
    assert fires(EpsilonNeverDecays(), run_with([0.3] * 60)).severity == "note"


def test_quiet_when_epsilon_is_small_and_constant():
    quiet(EpsilonNeverDecays(), run_with([0.1] * 60))


def test_quiet_when_a_long_schedule_has_just_begun():
    quiet(EpsilonNeverDecays(), run_with([1.0 - 1e-4 * i for i in range(60)]))


def test_declines_on_a_short_run():
    not_enough(EpsilonNeverDecays(), run_with([1.0] * 60, every=1))
