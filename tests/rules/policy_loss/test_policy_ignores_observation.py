from rldebug.evidence.run import Run
from rldebug.rules.policy_loss.policy_ignores_observation import PolicyIgnoresObservation
from tests.judge import fires, not_enough, quiet

FALLING = [0.693 - 0.005 * i for i in range(40)]


def run_with(dependence, entropy=FALLING, constant=0.0, std=0.5, **more):
    return Run.from_series(
        {
            "policy/obs_dependence": dependence,
            "policy/entropy": entropy,
            "policy/entropy_rel": [each / 0.693 for each in entropy],
            "obs/std": [std] * 40,
            "obs/constant": [constant] * 40,
            **more,
        }
    )


def test_fires_when_a_moving_policy_is_the_same_for_all_observations():
    fires(PolicyIgnoresObservation(), run_with([0.0, 1e-8] * 20))


def test_quiet_when_it_depends_a_little():
    quiet(PolicyIgnoresObservation(), run_with([0.0] + [1e-4] * 39))


def test_quiet_when_it_has_not_moved_yet():
    quiet(PolicyIgnoresObservation(), run_with([0.0] * 40, entropy=[0.693] * 40))


def test_quiet_when_it_has_collapsed_to_one_action():
    quiet(PolicyIgnoresObservation(), run_with([0.1] * 5 + [0.0] * 35, entropy=[0.69] * 5 + [0.001] * 35))


def test_quiet_when_a_bandit_has_one_observation():
    quiet(PolicyIgnoresObservation(), run_with([0.0] * 40, constant=1.0))


def test_quiet_when_observations_are_all_zero():
    quiet(PolicyIgnoresObservation(), run_with([0.0] * 40, std=0.0))


def test_declines_on_a_handful_of_readings():
    not_enough(PolicyIgnoresObservation(), run_with([0.0] * 8))
