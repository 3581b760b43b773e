from typing import Any

from rldebug.evidence.timing import Host, Measured, Network, Timing, Window
from rldebug.rules.performance.threads_oversubscribed import ThreadsOversubscribed
from tests.judge import fires, quiet
from tests.rules.timings import on, points_at_line, timing, yardstick

CODE = """
while True:
    collect()  # collect
    loss = compute()  # loss
    loss.backward()  # backward
    optimizer.step()  # optimizer
"""
NETWORK = Network("actor", ((64, 4), (64,)), training_rows=64, optimizer="Adam")


def measured(**by_number: float) -> dict[str, Measured]:
    detail = {name[1:]: took for name, took in by_number.items()}
    return yardstick(Measured("threads", "", min(detail.values()), max(detail.values()), detail))


def run(update: float = 6.0, **fields: Any) -> Timing:
    slices = [
        on("loss", update / 3, part="loss"),
        on("backward", update / 2, part="backward"),
        on("optimizer", update / 6, part="optimizer"),
    ]
    usual: dict[str, Any] = {"networks": (NETWORK,), "host": Host(cores=8, threads=8)}
    return timing(CODE, slices, **(usual | fields))


def test_fires_where_one_thread_was_measured_to_be_faster():
    finding = points_at_line(ThreadsOversubscribed(), run(yardstick=measured(_1=0.001, _8=0.002)), "backward")
    assert finding.message == "torch uses 8 threads, and 1 thread would be faster"
    assert abs(finding.speedup - 10 / 7) < 0.01
    assert finding.severity == "warning"


def test_points_at_the_line_that_asks_for_them():
    code = "import torch\ntorch.set_num_threads(8)  # set\n" + CODE
    slices = [on("backward", 6.0, part="backward")]
    host = Host(cores=8, threads=8)
    made = timing(code, slices, networks=(NETWORK,), host=host, yardstick=measured(_1=0.001, _8=0.002))
    points_at_line(ThreadsOversubscribed(), made, "set")


def test_fires_without_a_number_where_threads_are_twice_the_cores():
    finding = fires(ThreadsOversubscribed(), run(host=Host(cores=4, threads=16)))
    assert finding.message == "16 threads of torch take turns on 4 cores"
    assert (finding.speedup, finding.severity) == (None, "note")


def test_fires_where_the_workers_threads_crowd_the_cores():
    slices = [on("collect", 5.0, part="waiting")]
    host = Host(cores=8, threads=1, workers=8, worker_threads=8)
    made = timing(CODE, slices, host=host, windows=(Window(0.0, 10.0, cpu=5.0, children_cpu=72.0),))
    assert "8 workers of 8 threads each" in fires(ThreadsOversubscribed(), made).message
    idle = timing(CODE, slices, host=host, windows=(Window(0.0, 10.0, cpu=5.0, children_cpu=20.0),))
    quiet(ThreadsOversubscribed(), idle)


def test_quiet_where_the_threads_help():
    quiet(ThreadsOversubscribed(), run(yardstick=measured(_1=0.008, _8=0.002)))


def test_quiet_where_more_threads_than_there_are_would_help():
    quiet(ThreadsOversubscribed(), run(host=Host(cores=8, threads=2), yardstick=measured(_1=0.004, _2=0.003, _8=0.001)))


def test_quiet_where_updates_are_a_small_part():
    quiet(ThreadsOversubscribed(), run(update=0.5, yardstick=measured(_1=0.001, _8=0.002)))


def test_quiet_with_a_thread_for_each_core_that_was_not_measured():
    quiet(ThreadsOversubscribed(), run())


def test_quiet_where_the_gpu_does_the_work():
    network = Network("actor", ((64, 4), (64,)), device="cuda:0")
    quiet(ThreadsOversubscribed(), run(host=Host(cores=4, threads=16), networks=(network,)))
