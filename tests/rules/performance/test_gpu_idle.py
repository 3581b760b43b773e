from rldebug.evidence.run import Run
from rldebug.rules.performance.gpu_idle import GpuIdle
from tests.judge import fires, not_enough, quiet


def test_fires_when_hardly_any_kernel_runs():
    assert "4%" in fires(GpuIdle(), Run.from_series({"gpu/utilisation": [0.04] * 60})).seen


def test_quiet_when_the_learner_keeps_it_busy():
    quiet(GpuIdle(), Run.from_series({"gpu/utilisation": [0.7] * 60}))


def test_quiet_when_it_is_busy_half_of_the_time():
    quiet(GpuIdle(), Run.from_series({"gpu/utilisation": [0.0, 0.6] * 30}))


def test_declines_on_the_first_seconds():
    not_enough(GpuIdle(), Run.from_series({"gpu/utilisation": [0.0] * 10}))
