from rldebug.evidence.timing import Timing
from rldebug.rules.performance.update_bound_by_launches import UpdateBoundByLaunches
from tests.judge import quiet
from tests.rules.timings import on, points_at_line, timing

CODE = """
while True:
    loss = compute()  # loss
    loss.backward()  # backward
"""


def run(update: float = 8.0, **kernels: float) -> Timing:
    slices = [on("loss", 0.25 * update, part="loss"), on("backward", 0.75 * update, part="backward")]
    return timing(CODE, slices, kernels=kernels)


def test_fires_for_many_small_kernels():
    finding = points_at_line(UpdateBoundByLaunches(), run(launches=600, kernel_seconds=0.001, seconds=0.01), "backward")
    assert finding.message == "an update starts 600 kernels and the GPU works for 10% of it"
    assert abs(finding.speedup - 10 / 6) < 0.01


def test_quiet_where_the_kernels_fill_the_update():
    quiet(UpdateBoundByLaunches(), run(launches=600, kernel_seconds=0.008, seconds=0.01))


def test_quiet_for_few_kernels():
    quiet(UpdateBoundByLaunches(), run(launches=30, kernel_seconds=0.001, seconds=0.01))


def test_quiet_where_updates_take_little_and_without_a_gpu():
    quiet(UpdateBoundByLaunches(), run(0.5, launches=600, kernel_seconds=0.001, seconds=0.01))
    quiet(UpdateBoundByLaunches(), run())
