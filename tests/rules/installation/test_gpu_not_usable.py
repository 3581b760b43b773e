from rldebug.evidence.machine import Trial
from rldebug.rules.installation.gpu_not_usable import GpuNotUsable
from tests.judge import quiet
from tests.rules.machines import machine, names

NONE = {"available": False, "count": 0, "computed": None, "capabilities": ()}


def test_fires_when_torch_finds_none():
    said = "CUDA initialization: CUDA unknown error"
    finding = names(GpuNotUsable(), machine(torch={**NONE, "warnings": (said,)}))
    assert said in finding.seen
    assert "nvidia-modprobe" in finding.help


def test_fires_when_computing_fails():
    failed = Trial("torch", "error", "multiplying matrices on the first GPU", "RuntimeError: CUDA error: out of memory")
    finding = names(GpuNotUsable(), machine(failed, torch={"computed": False}))
    assert "out of memory" in finding.seen


def test_quiet_when_it_computes():
    quiet(GpuNotUsable(), machine())


def test_quiet_when_the_user_hid_them():
    quiet(GpuNotUsable(), machine(torch=NONE, variables={"CUDA_VISIBLE_DEVICES": ""}))
