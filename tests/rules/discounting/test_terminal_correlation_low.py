from rldebug.evidence.run import Run
from rldebug.rules.discounting.terminal_correlation_low import TerminalCorrelationLow
from tests.judge import fires, not_enough, quiet

N = 40


def run(corr=0.02, slope=0.001, residual=0.1, target=0.05, value=0.05, count=15.0, stale=0.0):
    return Run.from_series(
        {
            "value/terminal_corr": [corr, -corr] * (N // 2),
            "value/terminal_slope": [slope] * N,
            "value/terminal_count": [count] * N,
            "value/final_reward_std": [1.0] * N,
            "rollout/terminated": [0.1] * N,
            "value/residual_var": [residual] * N,
            "value/std": [value] * N,
            "target/std": [target] * N,
            "batch/staleness_mean": [stale] * N,
        },
        every=4,
    )


def test_fires_when_a_close_fit_leaves_the_final_reward_out():
    fires(TerminalCorrelationLow(), run())


def test_fires_when_targets_are_constant():
    fires(TerminalCorrelationLow(), run(residual=float("nan"), target=0.0, value=1e-4))


def test_quiet_when_the_final_reward_cannot_be_foreseen():
    quiet(TerminalCorrelationLow(), run(residual=0.95, target=0.35))


def test_quiet_when_the_last_state_follows_the_reward():
    quiet(TerminalCorrelationLow(), run(corr=0.0, slope=0.9))


def test_quiet_when_rewards_are_scaled_down_on_the_way_to_the_targets():
    series = {name: each.value.tolist() for name, each in run(slope=0.01).series.items()}
    quiet(TerminalCorrelationLow(), Run.from_series({**series, "value/terminal_corr": [0.95] * N}, every=4))


def test_quiet_when_targets_reach_as_far_as_rewards_on_a_scale_of_their_own():
    series = {name: each.value.tolist() for name, each in run().series.items()}
    wide = [0.8 + 0.01 * (i % 7) for i in range(N)]
    ranges = {"reward/min": [0.0] * N, "reward/max": wide, "target/min": [0.0] * N}
    small = {"target/max": [each / 100 for each in wide]}
    quiet(TerminalCorrelationLow(), Run.from_series({**series, **ranges, **small}, every=4))


def test_declines_on_few_terminations():
    not_enough(TerminalCorrelationLow(), run(count=2.0))
