from rldebug.evidence.run import Run
from rldebug.rules.network.weights_explode import WeightsExplode
from tests.judge import fires, not_enough, quiet


def run(norm, size=6400, n=40):
    return Run.from_series(
        {"weight/norm": [norm(i) for i in range(n)], "step/norm": [1.0] * n, "step/rms": [size**-0.5] * n}
    )


def test_fires_when_the_norm_grows_without_end():
    found = fires(WeightsExplode(), run(lambda i: 8.0 * 1.2**i))
    assert found.where.update is not None


def test_quiet_when_weights_grow_threefold():
    quiet(WeightsExplode(), run(lambda i: 8.0 + 0.4 * i))


def test_quiet_when_they_have_levelled_out():
    quiet(WeightsExplode(), run(lambda i: 8.0 if i < 2 else 900.0))


def test_declines_on_tables_and_other_starts_near_zero():
    not_enough(WeightsExplode(), run(lambda i: 8.0 * 1.2**i, size=64))
    not_enough(WeightsExplode(), run(lambda i: 0.01 * 1.4**i))


def test_declines_on_a_handful_of_readings():
    not_enough(WeightsExplode(), run(lambda i: 8.0 * 3.0**i, n=8))
