import torch

from rldebug.rules.installation.gpu_unknown_to_build import GpuUnknownToBuild
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying

TEXT = "CUDA error: no kernel image is available for execution on the device"


def test_fires_when_there_is_no_kernel_for_it():
    names(GpuUnknownToBuild(), crashed(saying(RuntimeError(TEXT))))


def test_quiet_when_there_is_no_gpu():
    quiet(GpuUnknownToBuild(), crashed(lambda: torch.zeros(1, device="cuda:0")))
