from rldebug.evidence.machine import Driver
from rldebug.rules.seeding.precision_lowered_outside import PrecisionLoweredOutside
from tests.judge import quiet
from tests.rules.machines import NO_GPU, machine, names


def test_fires_when_an_image_sets_it():
    finding = names(PrecisionLoweredOutside(), machine(variables={"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1"}))
    assert finding.severity == "note"


def test_quiet_when_it_is_switched_off():
    quiet(PrecisionLoweredOutside(), machine(variables={"NVIDIA_TF32_OVERRIDE": "0"}))


def test_quiet_without_a_gpu():
    quiet(PrecisionLoweredOutside(), machine(torch=NO_GPU, driver=Driver(), variables={"NVIDIA_TF32_OVERRIDE": "1"}))
