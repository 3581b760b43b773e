from rldebug.rules.performance.memory_nearly_full import MemoryNearlyFull
from tests.judge import quiet
from tests.rules.machines import GIB, machine, names


def test_fires_when_the_limit_of_the_group_is_near():
    limits = {"memory_limit": 2 * GIB, "memory_free": 300 << 20}
    finding = names(MemoryNearlyFull(), machine(limits=limits))
    assert finding.seen == "300 MiB of 2.0 GiB, by the limit of the control group"


def test_quiet_with_some_gigabytes():
    quiet(MemoryNearlyFull(), machine(limits={"memory_free": 4 * GIB}))


def test_quiet_when_nobody_knows():
    quiet(MemoryNearlyFull(), machine(limits={"memory_free": None}))
