from rldebug.evidence.machine import Driver
from rldebug.rules.installation.driver_does_not_answer import DriverDoesNotAnswer
from tests.judge import quiet
from tests.rules.machines import NO_GPU, machine, names

MISMATCH = "Failed to initialize NVML: Driver/library version mismatch"


def test_fires_when_the_driver_was_updated_under_way():
    finding = names(DriverDoesNotAnswer(), machine(torch=NO_GPU, driver=Driver(said=MISMATCH, cards=1)))
    assert finding.severity == "warning"
    assert finding.help.startswith("restart the machine")


def test_fires_as_a_note_without_a_card():
    said = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver"
    assert names(DriverDoesNotAnswer(), machine(torch=NO_GPU, driver=Driver(said=said))).severity == "note"


def test_quiet_when_it_answers_or_is_not_there():
    quiet(DriverDoesNotAnswer(), machine())
    quiet(DriverDoesNotAnswer(), machine(torch=NO_GPU, driver=Driver()))
