from rldebug.rules.multiprocess.shared_memory_small import SharedMemorySmall
from tests.judge import quiet
from tests.rules.machines import GIB, machine, names


def test_fires_in_a_container_as_it_comes():
    finding = names(SharedMemorySmall(), machine(limits={"shm": 64 << 20, "shm_free": 64 << 20}))
    assert finding.seen == "/dev/shm has 64 MiB"
    assert "--shm-size=2g" in finding.help


def test_quiet_with_a_gigabyte():
    quiet(SharedMemorySmall(), machine(limits={"shm": GIB}))


def test_quiet_where_there_is_no_such_thing():
    quiet(SharedMemorySmall(), machine(limits={"shm": None}))
