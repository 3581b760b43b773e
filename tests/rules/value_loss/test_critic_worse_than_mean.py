from rldebug.evidence.run import Run
from rldebug.rules.value_loss.critic_worse_than_mean import CriticWorseThanMean
from tests.judge import fires, not_enough, quiet

N = 60


def run(residual, mean=10.0, std=2.0, every=16, value=0.0):
    def column(x):
        return x if isinstance(x, list) else [x] * N

    return Run.from_series(
        {
            "value/residual_var": column(residual),
            "value/mean": column(value),
            "value/std": column(5.0),
            "target/mean": column(mean),
            "target/std": column(std),
        },
        every=every,
    )


def test_fires_when_the_error_is_several_times_the_spread():
    assert fires(CriticWorseThanMean(), run([1.0] * 5 + [20.0] * (N - 5))).confidence < 0.9


def test_quiet_when_a_solved_task_leaves_hardly_any_spread():
    quiet(CriticWorseThanMean(), run([1.0] * 20 + [8.0] * 40, std=[3.0] * 20 + [0.05] * 40, mean=[20.0] * N))


def test_quiet_when_batches_of_one_episode_differ_from_each_other():
    quiet(CriticWorseThanMean(), run(3.0, mean=[5.0, 30.0] * (N // 2), std=2.0))


def test_quiet_when_the_error_is_falling():
    quiet(CriticWorseThanMean(), run([40.0 * 0.9**i + 1.6 for i in range(N)]))


def test_quiet_when_the_error_is_small_beside_the_targets():
    quiet(CriticWorseThanMean(), run(4.0, mean=100.0, std=1.0))


def test_declines_on_a_short_run():
    not_enough(CriticWorseThanMean(), run(20.0, every=1))
