from rldebug.evidence.run import Run
from rldebug.rules.value_loss.value_constant import ValueConstant
from tests.judge import fires, not_enough, quiet

N = 40


def run(spread=0.0, target_spread=4.0, every=8, fixed=0.0, rows=32.0, meta=None):
    spreads = spread if isinstance(spread, list) else [spread] * N
    observed = {} if fixed is None else {"obs/constant": [fixed] * N}
    return Run.from_series(
        {
            "value/std": spreads,
            "value/mean": [9.0] * N,
            "target/std": [target_spread] * N,
            "target/mean": [10.0] * N,
            "batch/rows": [rows] * N,
            **observed,
        },
        every=every,
        meta={"modules": {"critic": 100}} if meta is None else meta,
    )


def test_fires_when_every_observation_gets_the_same_value():
    fires(ValueConstant(), run())


def test_fires_without_observations_when_the_critic_once_told_them_apart():
    fires(ValueConstant(), run(spread=[1.0] * 5 + [0.0] * (N - 5), fixed=None))


def test_quiet_when_values_differ_a_little():
    quiet(ValueConstant(), run(spread=1e-3))


def test_quiet_when_there_is_one_observation_only():
    quiet(ValueConstant(), run(fixed=1.0))


def test_quiet_when_targets_are_constant_too():
    quiet(ValueConstant(), run(target_spread=0.0))


def test_quiet_when_observations_are_unknown_and_values_never_differed():
    quiet(ValueConstant(), run(fixed=None))


def test_quiet_when_a_batch_is_one_row():
    quiet(ValueConstant(), run(rows=1.0))


def test_declines_when_the_value_may_be_a_running_mean():
    not_enough(ValueConstant(), run(meta={"modules": {"policy": 100}}))


def test_declines_on_a_short_run():
    not_enough(ValueConstant(), run(every=1))
