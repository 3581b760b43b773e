from rldebug.evidence.run import Run
from rldebug.rules.value_loss.critic_learns_nothing import CriticLearnsNothing
from tests.judge import fires, not_enough, quiet

N = 60


VALUES = {
    "value/residual_var": [1.0] * N,
    "value/mean": [0.1, 0.05] * (N // 2),
    "value/std": [0.2] * N,
    "target/mean": [20.0] * N,
    "target/std": [4.0] * N,
    "value/target_corr": [0.02, -0.02] * (N // 2),
    "batch/rows": [64.0] * N,
}


def run(**series):
    return Run.from_series({**VALUES, **{name.replace("__", "/"): each for name, each in series.items()}}, every=16)


def found_the_mean(**series):
    return run(value__mean=[0.0] * 5 + [20.0] * (N - 5), **series)


LEARNED = {
    "episode__return_mean": [10.0 + i for i in range(N)],
    "episode__terminated": [5.0] * N,
    "policy__obs_dependence": [0.0] * 10 + [0.3] * (N - 10),
}


def test_fires_when_predictions_never_move_towards_the_targets():
    assert "not being trained" in fires(CriticLearnsNothing(), run()).message


def test_not_enough_when_the_run_goes_on_and_tells_only_its_returns():
    early = {name: [*each[:30], *[None] * 30] for name, each in VALUES.items()}
    not_enough(CriticLearnsNothing(), Run.from_series({**early, "episode/return_mean": [1.0] * N}, every=16))


def test_fires_when_only_the_mean_is_learned_in_a_long_run_though_the_policy_learns():
    assert fires(CriticLearnsNothing(long=800), found_the_mean(**LEARNED)).severity == "warning"


def test_only_a_note_when_there_was_little_time():
    assert fires(CriticLearnsNothing(), found_the_mean(**LEARNED)).severity == "note"


def test_only_a_note_when_nothing_shows_that_returns_can_be_foretold():
    assert fires(CriticLearnsNothing(long=800), found_the_mean()).severity == "note"


def test_quiet_when_the_mean_creeps_towards_the_targets():
    quiet(CriticLearnsNothing(), run(value__mean=[0.1 + 0.05 * i for i in range(N)]))


def test_quiet_when_huge_targets_are_approached_by_a_hair():
    series = {"value__mean": [0.1 * i for i in range(N)], "target__mean": [2000.0] * N, "target__std": [400.0] * N}
    quiet(CriticLearnsNothing(), run(**series))


def test_quiet_when_the_critic_was_good_before_the_task_was_solved():
    residual = [1.0] * 10 + [0.3] * 30 + [1.0] * 20
    quiet(CriticLearnsNothing(), found_the_mean(value__residual_var=residual, **LEARNED))


def test_quiet_when_targets_are_constant():
    quiet(CriticLearnsNothing(), run(target__std=[0.0] * N))


def test_declines_on_a_short_run():
    not_enough(
        CriticLearnsNothing(), Run.from_series({name: s.value[:40].tolist() for name, s in run().series.items()})
    )
