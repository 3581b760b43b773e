from rldebug.evidence.run import Run
from rldebug.rules.policy_loss.ratio_always_one import RatioAlwaysOne
from tests.judge import fires, not_enough, quiet


def run_with(later=0.0, steps=(-2.5, -2.5, -2.5, -2.5), own=0.0, rollouts=6, optimizer="", **more):
    """Rollouts of four updates each."""
    return Run.from_series(
        {
            "policy/later_log_ratio": [None, later, later, later] * rollouts,
            "policy/logp_from_rollout": [1.0, own, own, own] * rollouts,
            f"step/log10_ratio{optimizer}": [*steps] * rollouts,
        },
        **more,
    )


def moved(step):
    return {"parameters": {"policy.0.weight": [1.0, 1.0, 0.0, step, 1.0, 0.0, 0.1]}}


def test_fires_when_old_log_probs_follow_the_network():
    assert "0% of the old" in fires(RatioAlwaysOne(), run_with(tables=moved(0.01))).seen


def test_fires_with_several_optimizers():
    fires(RatioAlwaysOne(), run_with(optimizer="@actor"))


def test_quiet_when_the_ratio_moves():
    quiet(RatioAlwaysOne(), run_with(later=0.02, own=1.0))


def test_quiet_when_the_stored_log_probs_agree_with_a_policy_that_stands_still():
    quiet(RatioAlwaysOne(), run_with(own=1.0))


def test_quiet_when_only_the_critic_is_stepped():
    quiet(RatioAlwaysOne(), run_with(tables=moved(0.0)))


def test_quiet_when_the_policy_loss_reaches_nothing():
    reach = {"reach": {"policy": {"policy": {"reached": 0, "of": 4, "missing": []}}}}
    quiet(RatioAlwaysOne(), run_with(facts=reach))


def test_declines_when_gradients_are_accumulated_before_the_step():
    not_enough(RatioAlwaysOne(), run_with(steps=(None, None, None, -2.5)))


def test_declines_when_each_rollout_gets_one_update():
    not_enough(RatioAlwaysOne(), Run.from_series({"step/log10_ratio": [-2.0] * 20}))


def test_declines_when_steps_are_too_small_to_show():
    not_enough(RatioAlwaysOne(), run_with(steps=(-7.0, -7.0, -7.0, -7.0)))
