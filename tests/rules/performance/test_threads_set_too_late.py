from typing import Any

from rldebug.diagnose import fold
from rldebug.evidence.timing import Host, Measured, Timing
from rldebug.rules.performance.threads_oversubscribed import ThreadsOversubscribed
from rldebug.rules.performance.threads_set_too_late import ThreadsSetTooLate
from tests.judge import fires, quiet
from tests.rules.timings import on, points_at_line, timing, yardstick

CODE = """
import os
import torch
os.environ["OMP_NUM_THREADS"] = "1"  # set
while True:
    loss.backward()  # backward
"""
MEASURED = yardstick(Measured("threads", "", 0.001, 0.002, {"1": 0.001, "8": 0.002}))


def host(**fields: Any) -> Host:
    usual: dict[str, Any] = {
        "cores": 8,
        "threads": 8,
        "variables": {"OMP_NUM_THREADS": "1"},
        "late": ("OMP_NUM_THREADS",),
    }
    return Host(**(usual | fields))


def run(code: str = CODE, **fields: Any) -> Timing:
    return timing(code, [on("backward", 6.0, part="backward")], **({"host": host(), "yardstick": MEASURED} | fields))


def test_fires_where_torch_does_not_follow_and_it_would_be_faster():
    finding = points_at_line(ThreadsSetTooLate(), run(), "set")
    assert finding.message == "torch uses 8 threads: OMP_NUM_THREADS is set to 1 after torch was imported"
    assert abs(finding.speedup - 10 / 7) < 0.01


def test_fires_as_a_note_where_nothing_was_measured():
    code = CODE.replace('os.environ["OMP_NUM_THREADS"] = "1"', 'os.environ.setdefault("OMP_NUM_THREADS", "1")')
    finding = fires(ThreadsSetTooLate(), run(code, yardstick={}))
    assert (finding.severity, finding.speedup, finding.where.line) == ("note", None, 4)


def test_tells_of_the_threads_once():
    found = fold([fires(ThreadsOversubscribed(), run()), fires(ThreadsSetTooLate(), run())])
    assert [each.follows for each in found] == [("PRF909",), ()]


def test_quiet_where_it_was_set_in_time():
    quiet(ThreadsSetTooLate(), run(host=host(late=(), threads=1)))


def test_quiet_where_torch_was_told_as_well():
    quiet(ThreadsSetTooLate(), run(host=host(threads=1)))


def test_quiet_where_it_is_meant_for_workers():
    quiet(ThreadsSetTooLate(), run(host=host(workers=4, threads=2, cores=16), yardstick={}))


def test_fires_where_workers_and_program_crowd_the_cores_with_their_threads():
    assert fires(ThreadsSetTooLate(), run(host=host(workers=4), yardstick={})).severity == "note"


def test_quiet_for_variables_of_other_libraries():
    quiet(
        ThreadsSetTooLate(),
        run(host=host(variables={"OPENBLAS_NUM_THREADS": "1"}, late=("OPENBLAS_NUM_THREADS",))),
    )
