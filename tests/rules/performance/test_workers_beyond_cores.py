from rldebug.rules.performance.workers_beyond_cores import WorkersBeyondCores
from tests.judge import quiet
from tests.rules.machines import machine, names


def test_fires_when_each_worker_starts_a_thread_for_each_core():
    finding = names(WorkersBeyondCores(), machine(workers=8))
    assert finding.message == "8 workers start 128 threads on 16 cores"
    assert finding.help.startswith("export OMP_NUM_THREADS=1")


def test_fires_when_there_are_more_workers_than_cores():
    assert "about 16 workers" in names(WorkersBeyondCores(), machine(torch={"threads": 1}, workers=64)).help


def test_quiet_with_a_thread_each():
    quiet(WorkersBeyondCores(), machine(torch={"threads": 1}, workers=16))


def test_quiet_when_nobody_asked_for_workers():
    quiet(WorkersBeyondCores(), machine())
