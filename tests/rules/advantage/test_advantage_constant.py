from rldebug.evidence.run import Run
from rldebug.rules.advantage.advantage_constant import AdvantageConstant
from tests.judge import fires, not_enough, quiet

N = 20


def run(mean, std=0.0, rows=64.0, **more):
    return Run.from_series(
        {
            "advantage/mean": mean,
            "advantage/std": [std] * N,
            "batch/rows": [rows] * N,
            **{name.replace("__", "/"): each for name, each in more.items()},
        }
    )


def test_fires_when_all_advantages_are_zero():
    assert "0 in every batch" in fires(AdvantageConstant(), run([0.0] * N, reward__std=[0.5] * N)).seen


def test_fires_when_returns_of_the_same_rows_differ():
    fires(AdvantageConstant(), run([float(i) for i in range(N)], target__std=[3.0] * N))


def test_quiet_when_each_batch_is_an_episode_weighted_by_its_return():
    quiet(AdvantageConstant(), run([float(i) for i in range(N)], target__std=[0.0] * N, reward__std=[0.0] * N))


def test_quiet_when_there_is_nothing_to_learn():
    quiet(AdvantageConstant(), run([0.0] * N, reward__std=[0.0] * N, episode__return_mean=[1.0] * N))


def test_quiet_when_advantages_differ():
    quiet(AdvantageConstant(), run([0.0] * N, std=1.0, reward__std=[0.5] * N))


def test_declines_on_batches_of_one_row():
    not_enough(AdvantageConstant(), run([0.0] * N, rows=1.0, reward__std=[0.5] * N))
