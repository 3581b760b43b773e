from rldebug.evidence.machine import Driver
from rldebug.rules.installation.gpu_without_driver import GpuWithoutDriver
from tests.judge import quiet
from tests.rules.machines import NO_GPU, machine, names

NONE = {"available": False, "count": 0, "computed": None, "capabilities": ()}


def test_fires_when_a_container_has_not_got_its_gpus():
    finding = names(GpuWithoutDriver(), machine(torch=NONE, driver=Driver(cards=2)))
    assert finding.severity == "warning"
    assert "--gpus all" in finding.help


def test_fires_as_a_note_when_torch_is_for_the_cpu():
    assert names(GpuWithoutDriver(), machine(torch=NO_GPU, driver=Driver(cards=1))).severity == "note"


def test_quiet_without_a_card():
    quiet(GpuWithoutDriver(), machine(torch=NONE, driver=Driver()))


def test_quiet_when_torch_finds_it_all_the_same():
    quiet(GpuWithoutDriver(), machine(driver=Driver(cards=1)))
