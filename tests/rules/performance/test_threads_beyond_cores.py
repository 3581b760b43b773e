from rldebug.rules.performance.threads_beyond_cores import ThreadsBeyondCores
from tests.judge import quiet
from tests.rules.machines import machine, names


def test_fires_when_a_container_grants_few_of_many_cores():
    finding = names(ThreadsBeyondCores(), machine(limits={"quota": 2.0}))
    assert finding.message == "torch starts 16 threads where 2 cores are granted"
    assert "the control group grants 2 of 16 cores" in finding.seen
    assert "OMP_NUM_THREADS=2" in finding.help


def test_fires_when_the_variable_is_of_another_machine():
    finding = names(ThreadsBeyondCores(), machine(torch={"threads": 64}, variables={"OMP_NUM_THREADS": "64"}))
    assert "OMP_NUM_THREADS=64; the process may run on 16 of 16 cores" in finding.seen


def test_quiet_with_a_thread_for_each_core():
    quiet(ThreadsBeyondCores(), machine())


def test_quiet_with_one_thread_and_half_a_core():
    quiet(ThreadsBeyondCores(), machine(torch={"threads": 1}, limits={"quota": 0.5}))
