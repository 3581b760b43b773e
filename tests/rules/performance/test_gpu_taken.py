from dataclasses import replace

from rldebug.rules.performance.gpu_taken import GpuTaken
from tests.judge import quiet
from tests.rules.machines import GIB, H200, machine, names


def used(share, busy=0.0):
    gpu = replace(H200, used=int(share * 140 * GIB), utilisation=busy)
    return machine(driver={"gpus": (gpu,), "processes": ("4711 python 61958 MiB",)})


def test_fires_when_somebody_holds_its_memory():
    finding = names(GpuTaken(), used(0.43))
    assert finding.severity == "note"
    assert "43% of its memory" in finding.seen
    assert "4711 python" in finding.seen


def test_fires_as_a_warning_when_little_is_left():
    assert names(GpuTaken(), used(0.97)).severity == "warning"


def test_fires_when_it_computes():
    names(GpuTaken(), used(0.05, busy=0.98))


def test_quiet_when_a_screen_is_drawn_on_it():
    quiet(GpuTaken(), used(0.05, busy=0.1))
