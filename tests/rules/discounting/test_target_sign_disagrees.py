from rldebug.evidence.run import Run
from rldebug.rules.discounting.target_sign_disagrees import TargetSignDisagrees
from tests.judge import fires, not_enough, quiet

N = 40


def run(low, mean, high, reward=(0.0, 0.5, 1.0), every=16, kind="reward/", **meta):
    def column(x):
        return x if isinstance(x, list) else [x] * N

    rewards = {f"{kind}{name}": column(each) for name, each in zip(("min", "mean", "max"), reward, strict=True)}
    return Run.from_series(
        {"target/min": column(low), "target/mean": column(mean), "target/max": column(high), **rewards},
        every=every,
        meta=meta,
    )


def test_fires_when_positive_rewards_make_negative_targets():
    fires(TargetSignDisagrees(), run(-9.0, -5.0, -1.0))


def test_fires_when_negative_rewards_make_positive_targets():
    fires(TargetSignDisagrees(), run(1.0, 5.0, 9.0, reward=(-1.0, -0.5, 0.0)))


def test_quiet_when_targets_are_standardised():
    quiet(TargetSignDisagrees(), run(-2.0, -0.5, 2.0))


def test_quiet_when_targets_are_small_and_all_bootstrap():
    quiet(TargetSignDisagrees(), run(-0.1, -0.05, -0.01, reward=(0.0, 0.0001, 1.0)))


def test_quiet_when_a_bad_start_is_wearing_off():
    quiet(TargetSignDisagrees(), run(*[[-c * 0.95**i for i in range(N)] for c in (90.0, 50.0, 10.0)]))


def test_quiet_when_rewards_have_both_signs():
    quiet(TargetSignDisagrees(), run(-9.0, -5.0, -1.0, reward=(-1.0, 0.0, 1.0)))


def test_declines_where_targets_may_hold_an_entropy_bonus():
    not_enough(TargetSignDisagrees(), run(-9.0, -5.0, -1.0, kind="replay/reward_", modules={"policy": 1, "critic": 1}))
