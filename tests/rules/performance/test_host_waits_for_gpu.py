from typing import Any

from rldebug.evidence.timing import Host, Spot, Sync, Timing
from rldebug.rules.performance.host_waits_for_gpu import HostWaitsForGpu
from tests.judge import quiet
from tests.rules.timings import line_of, on, points_at_line, timing

CODE = """
while True:
    env.step(policy(obs).cpu())  # act
    for batch in batches:
        total += loss.item()  # item
        kl = ratio[mask].mean()  # mask
        loss.backward()  # backward
"""


def sync(marker: str, per_update: float, what: str) -> Sync:
    return Sync(Spot("train.py", "<module>", line_of(CODE, marker), "user"), round(10 * per_update), per_update, what)


def run(seconds: float = 4.0, *syncs: Sync, **fields: Any) -> Timing:
    slices = [
        on("item", 0.75 * seconds, part="copies", before="update", after="backward", called=".item"),
        on("mask", 0.25 * seconds, part="loss", before="update", after="backward"),
        on("act", 2.0, part="copies", before="step", after="step", called=".cpu"),
    ]
    given = syncs or (sync("mask", 1.0, "nonzero"), sync("item", 8.0, ".item"))
    return timing(CODE, slices, syncs=given, **({"host": Host(gpu="NVIDIA H200")} | fields))


def test_fires_with_the_worst_line_first():
    finding = points_at_line(HostWaitsForGpu(), run(), "item")
    assert finding.message == "the host waits for the GPU 9 times in an update"
    assert finding.seen.startswith(".item at train.py:5 (8), nonzero at train.py:6 (1); 4 s")
    assert abs(finding.speedup - 10 / 8) < 0.01  # half of it, where the kernels' time is not known


def test_promises_only_what_the_hosts_own_work_can_hide():
    # 1000 updates of 6 ms, 5 ms of them in kernels: the host's own 2 ms can run beside them.
    kernels = {"seconds": 0.006, "kernel_seconds": 0.005, "launches": 100.0}
    finding = points_at_line(HostWaitsForGpu(), run(kernels=kernels), "item")
    assert abs(finding.speedup - 10 / 9) < 0.01


def test_quiet_for_a_wait_or_two():
    quiet(HostWaitsForGpu(), run(4.0, sync("item", 2.0, ".item")))


def test_quiet_where_the_gpu_is_busy_all_the_time():
    quiet(HostWaitsForGpu(), run(kernels={"seconds": 0.006, "kernel_seconds": 0.006, "launches": 100.0}))


def test_quiet_where_the_lines_take_little():
    quiet(HostWaitsForGpu(), run(0.3))


def test_quiet_without_a_gpu():
    quiet(HostWaitsForGpu(), run(host=Host()))
