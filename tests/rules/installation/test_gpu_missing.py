from rldebug.rules.installation.gpu_missing import GpuMissing
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_torch_has_no_cuda():
    names(GpuMissing(), crashed(saying(AssertionError("Torch not compiled with CUDA enabled"))))


def test_quiet_when_the_memory_is_full():
    quiet(GpuMissing(), crashed(saying(RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"))))
