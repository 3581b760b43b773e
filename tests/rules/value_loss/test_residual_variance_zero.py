from rldebug.evidence.run import Run
from rldebug.rules.value_loss.residual_variance_zero import ResidualVarianceZero
from tests.judge import fires, not_enough, quiet

N = 60
FALLS = [0.98, 0.6, 0.1] + [0.001] * (N - 3)


def run(**series):
    plain = {
        "value/residual_var": FALLS,
        "value/mean": [5.0] * N,
        "target/mean": [5.0] * N,
        "target/std": [1.0] * N,
        "policy/entropy_rel": [0.99, 0.5, 0.2] + [0.01] * (N - 3),
        "episode/return_mean": [9.0, 10.0, 9.5] * (N // 3),
    }
    return Run.from_series({**plain, **{name.replace("__", "/"): each for name, each in series.items()}}, every=16)


def test_fires_when_targets_are_the_predictions_from_the_start():
    assert "predictions themselves" in fires(ResidualVarianceZero(), run(value__residual_var=[0.0] * N)).message


def test_fires_when_it_falls_to_zero_with_the_entropy():
    assert "one thing" in fires(ResidualVarianceZero(), run()).message


def test_quiet_when_the_return_rose_meanwhile():
    quiet(ResidualVarianceZero(), run(episode__return_mean=[9.0 + i for i in range(N)]))


def test_quiet_when_all_returns_are_alike():
    quiet(ResidualVarianceZero(), run(episode__return_mean=[1.0] * N))


def test_quiet_when_episodes_got_shorter_at_an_equal_return():
    quiet(ResidualVarianceZero(), run(episode__length_mean=[12.0] * 5 + [5.0] * (N - 5)))


def test_fires_when_episodes_got_shorter_and_the_return_fell():
    falls = {"episode__return_mean": [20.0, 21.0, 19.0, 18.0] + [9.0, 9.5] * 28}
    fires(ResidualVarianceZero(), run(episode__length_mean=[20.0] * 5 + [9.0] * (N - 5), **falls))


def test_quiet_when_the_policy_stays_random():
    quiet(ResidualVarianceZero(), run(policy__entropy_rel=[0.9] * N))


def test_quiet_when_returns_are_unknown():
    series = {name: each.value.tolist() for name, each in run().series.items() if name != "episode/return_mean"}
    quiet(ResidualVarianceZero(), Run.from_series(series, every=16))


def test_quiet_when_the_fit_is_close_but_only_later():
    quiet(ResidualVarianceZero(), run(value__residual_var=[1.0] * 3 + [0.0] * (N - 3), policy__entropy_rel=[0.5] * N))


def test_declines_without_entropy():
    series = {name: each.value.tolist() for name, each in run().series.items() if name != "policy/entropy_rel"}
    not_enough(ResidualVarianceZero(), Run.from_series(series))
