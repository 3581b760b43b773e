import pytest

from rldebug.evidence.machine import Trial
from rldebug.rules.installation.gpu_without_kernels import GpuWithoutKernels
from tests.judge import fires, quiet
from tests.rules.machines import machine, names


def test_fires_when_the_gpu_is_newer_than_torch():
    torch = {"archs": ("sm_80", "sm_90"), "capabilities": ("12.0",), "computed": False}
    failed = Trial("torch", "error", "multiplying matrices on the first GPU", "RuntimeError: no kernel image")
    finding = names(GpuWithoutKernels(), machine(failed, torch=torch))
    assert "as new" in finding.message
    assert "compute capability 12.0" in finding.seen


def test_fires_when_the_gpu_is_older_than_torch_goes():
    torch = {"capabilities": ("5.2",), "computed": False}
    assert "install an older PyTorch" in fires(GpuWithoutKernels(), machine(torch=torch)).help


@pytest.mark.parametrize(
    ("capability", "archs"),
    [("8.9", ("sm_80", "sm_90")), ("12.0", ("sm_80", "compute_90")), ("9.0", ("sm_90a",))],
    ids=["same generation", "compiled on the spot", "the very one"],
)
def test_quiet_when_kernels_fit(capability, archs):
    quiet(GpuWithoutKernels(), machine(torch={"capabilities": (capability,), "archs": archs, "computed": None}))


def test_fires_when_kernels_are_for_another_of_the_generation_only():
    fires(GpuWithoutKernels(), machine(torch={"capabilities": ("12.1",), "archs": ("sm_120a",), "computed": None}))
