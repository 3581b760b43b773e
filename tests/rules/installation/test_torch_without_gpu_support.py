from rldebug.evidence.machine import Driver
from rldebug.rules.installation.torch_without_gpu_support import TorchWithoutGpuSupport
from tests.judge import quiet
from tests.rules.machines import NO_GPU, machine, names


def test_fires_when_torch_is_for_the_cpu_and_there_is_a_gpu():
    finding = names(TorchWithoutGpuSupport(), machine(torch=NO_GPU))
    assert "NVIDIA H200" in finding.seen
    assert "whl/cu130" in finding.help


def test_quiet_without_a_gpu():
    quiet(TorchWithoutGpuSupport(), machine(torch=NO_GPU, driver=Driver()))


def test_quiet_with_a_torch_for_cuda():
    quiet(TorchWithoutGpuSupport(), machine())
