from rldebug.evidence.run import Run
from rldebug.rules.discounting.target_outside_reward_range import TargetOutsideRewardRange
from tests.judge import fires, not_enough, quiet

N = 60
GROWS = [20.0 + 4.0 * i for i in range(N)]


def run(size, gamma=0.97, meta=None, **more):
    series = {
        "target/min": [0.0] * N,
        "target/max": size,
        "value/min": [0.0] * N,
        "value/max": [0.0] * N,
        "reward/min": [1.0] * N,
        "reward/max": [1.0] * N,
        "episode/length_max": size,
    }
    return Run.from_series({**series, **more}, meta={"gamma": gamma, **(meta or {})})


def test_fires_when_undiscounted_sums_outgrow_the_bound():
    assert "33.3" in fires(TargetOutsideRewardRange(), run(GROWS)).expected


def test_quiet_when_targets_stay_within_the_bound():
    quiet(TargetOutsideRewardRange(), run([20.0 + 0.3 * i for i in range(N)]))


def test_quiet_when_targets_have_levelled_out():
    quiet(TargetOutsideRewardRange(), run([20.0] * 10 + [150.0] * 50))


def test_quiet_when_targets_were_never_on_the_scale_of_the_rewards():
    quiet(TargetOutsideRewardRange(), run([10.0 * each for each in GROWS], **{"episode/length_max": [20.0] * N}))


def test_declines_where_targets_may_hold_an_entropy_bonus():
    replay = {"replay/reward_max": [1.0] * N, "replay/reward_min": [1.0] * N}
    not_enough(TargetOutsideRewardRange(), run(GROWS, meta={"modules": {"policy": 10, "critic": 10}}, **replay))


def test_declines_without_a_discount():
    not_enough(TargetOutsideRewardRange(), run(GROWS, gamma=None))
