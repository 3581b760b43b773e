from rldebug.evidence.run import Run
from rldebug.rules.policy_loss.first_ratio_not_one import FirstRatioNotOne
from tests.judge import fires, not_enough, quiet


def run_with(first, kl, own=1.0, **more):
    length = len(first)
    return Run.from_series(
        {"policy/first_log_ratio": first, "policy/kl": kl, "policy/logp_from_rollout": [own] * length, **more}
    )


def test_fires_when_log_probs_differ_before_the_first_step():
    assert fires(FirstRatioNotOne(), run_with([0.5, 1.2, 0.9, 2.0], [0.02, 0.1, 0.05, 0.2])).severity == "error"


def test_only_a_warning_when_they_differ_a_little():
    assert fires(FirstRatioNotOne(), run_with([0.04, 0.06, 0.05], [1e-4, 2e-4, 1e-4])).severity == "warning"


def test_fires_when_a_uniform_start_could_not_show_it():
    uniform = {"policy/entropy_rel": [1.0, 0.9, 0.8, 0.7, 0.6, 0.5], "policy/entropy_max": [0.69] * 6}
    fires(FirstRatioNotOne(), run_with([0.0, 0.2, 0.5, 0.9, 0.8, 0.9], [0.0, 0.01, 0.02, 0.05, 0.05, 0.1], **uniform))


def test_quiet_when_they_differ_by_rounding():
    quiet(FirstRatioNotOne(), run_with([1e-7, 5e-7, 2e-6, 1e-5], [1e-15, 1e-15, 1e-14, 1e-13]))


def test_quiet_in_half_precision():
    quiet(FirstRatioNotOne(), run_with([2e-5, 3e-3, 7e-3, 2e-2], [1e-10, 1e-6, 5e-6, 1e-5]))


def test_quiet_when_one_saturated_row_is_rounded_away():
    quiet(FirstRatioNotOne(), run_with([0.05, 0.08, 0.2, 0.1], [1e-6, 2e-6, 8e-6, 5e-6]))


def test_quiet_when_actors_run_behind_the_learner():
    behind = [1e-7] + [0.2] * 9
    started = {"policy/entropy_rel": [0.95] * 10, "policy/entropy_max": [0.69] * 10}
    quiet(FirstRatioNotOne(), run_with(behind, [1e-14] + [0.01] * 9, **started))


def test_quiet_when_the_old_log_probs_belong_to_another_rollout():
    quiet(FirstRatioNotOne(), run_with([0.5, 1.2, 0.9, 2.0], [0.02, 0.1, 0.05, 0.2], own=0.3))


def test_quiet_when_rows_are_known_to_be_older():
    older = {"batch/staleness_mean": [4.0] * 4}
    quiet(FirstRatioNotOne(), run_with([0.5, 1.2, 0.9, 2.0], [0.02, 0.1, 0.05, 0.2], **older))


def test_declines_on_a_single_rollout():
    not_enough(FirstRatioNotOne(), run_with([0.5], [0.02]))
