from rldebug.rules.checkpoint.disk_nearly_full import DiskNearlyFull
from tests.judge import quiet
from tests.rules.machines import GIB, machine, names


def test_fires_when_little_is_left():
    finding = names(DiskNearlyFull(), machine(limits={"disk_free": 200 << 20}))
    assert finding.message.startswith("200 MiB are left")
    assert finding.where.file == "/home/me/project"


def test_fires_when_nothing_can_be_written():
    assert "nothing can be written" in names(DiskNearlyFull(), machine(limits={"writable": False})).message


def test_quiet_with_some_gigabytes():
    quiet(DiskNearlyFull(), machine(limits={"disk_free": 5 * GIB}))
