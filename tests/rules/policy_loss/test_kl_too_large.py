from rldebug.diagnose import derive
from rldebug.evidence.run import Run
from rldebug.rules.policy_loss.kl_too_large import KlTooLarge
from tests.judge import fires, not_enough, quiet


def run_with(kl, rollouts=8, first=1e-7):
    """Rollouts of four updates each, with these divergences."""
    return Run.from_series(
        {
            "policy/kl": [0.0, *kl] * rollouts,
            "policy/first_log_ratio": [first, None, None, None] * rollouts,
            "policy/later_log_ratio": [None, 0.5, 1.0, 2.0] * rollouts,
            "batch/staleness_mean": [0, 1, 2, 3] * rollouts,
        }
    )


def test_fires_when_the_policy_runs_away_from_its_data():
    fires(KlTooLarge(), run_with([0.2, 0.9, 2.5]))


def test_quiet_when_it_stays_close():
    quiet(KlTooLarge(), run_with([0.005, 0.02, 0.08]))


def test_quiet_when_single_rollouts_go_astray():
    near, far = run_with([0.005, 0.02, 0.08], rollouts=7), run_with([0.3, 2.0, 9.0], rollouts=2)
    quiet(KlTooLarge(), Run.of([*near.readings, *far.readings]))


def test_quiet_when_the_data_is_older_by_design():
    quiet(KlTooLarge(), run_with([0.9, 0.9, 0.9], first=1.5))


def test_declines_on_a_handful_of_rollouts():
    not_enough(KlTooLarge(), run_with([0.2, 0.9, 2.5], rollouts=2))


def logged(kl, returns):
    return derive(Run.from_series({"policy/kl": kl, "episode/return_mean": returns}, meta={"log": {}}), {})


def test_in_a_log_the_divergence_is_enough():
    fires(KlTooLarge(), logged([0.9] * 40, [20.0 + i for i in range(40)]))
    quiet(KlTooLarge(), logged([0.02] * 40, [20.0 + i for i in range(40)]))


def test_in_a_log_a_policy_that_one_update_has_ruined():
    ruined = [22.0, 21.0, 23.0, *([9.0, 9.5] * 20)]
    found = fires(KlTooLarge(), logged([0.01, 8.0] + [0.0] * 41, ruined))
    assert "threw the policy far away" in found.message
    quiet(KlTooLarge(), logged([0.01, 8.0] + [0.0] * 41, [20.0 + i for i in range(43)]))
    quiet(KlTooLarge(), logged([0.01, 0.3] + [0.0] * 41, ruined))
