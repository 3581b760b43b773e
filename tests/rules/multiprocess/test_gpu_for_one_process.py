from dataclasses import replace

from rldebug.rules.multiprocess.gpu_for_one_process import GpuForOneProcess
from tests.judge import fires, quiet
from tests.rules.machines import H200, machine, names

SHUT = {"gpus": (replace(H200, mode="Exclusive_Process"),)}


def test_fires_in_exclusive_mode():
    assert names(GpuForOneProcess(), machine(driver=SHUT)).severity == "note"
    assert fires(GpuForOneProcess(), machine(driver=SHUT, workers=4)).severity == "warning"


def test_quiet_by_default():
    quiet(GpuForOneProcess(), machine(workers=4))


def test_quiet_under_mps():
    quiet(GpuForOneProcess(), machine(driver=SHUT, variables={"CUDA_MPS_PIPE_DIRECTORY": "mps"}))
