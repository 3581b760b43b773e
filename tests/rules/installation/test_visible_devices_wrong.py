from dataclasses import replace

import pytest

from rldebug.evidence.machine import Driver
from rldebug.rules.installation.visible_devices_wrong import VisibleDevicesWrong
from tests.judge import quiet
from tests.rules.machines import H200, NO_GPU, machine, names


@pytest.mark.parametrize("value", ["7", "0,3", "gpu0", "0;1"])
def test_fires_when_a_gpu_is_not_there(value):
    finding = names(VisibleDevicesWrong(), machine(variables={"CUDA_VISIBLE_DEVICES": value}))
    assert finding.severity == "warning"
    assert "CUDA_VISIBLE_DEVICES=0" in finding.help


@pytest.mark.parametrize("value", ["", "-1"])
def test_fires_as_a_note_when_all_are_hidden(value):
    torch = {"available": False, "count": 0, "computed": None, "capabilities": ()}
    finding = names(VisibleDevicesWrong(), machine(torch=torch, variables={"CUDA_VISIBLE_DEVICES": value}))
    assert finding.severity == "note"


@pytest.mark.parametrize("value", ["0", "0, 1", "GPU-8932f937", "MIG-1c2d"])
def test_quiet_when_they_are_there(value):
    two = (H200, replace(H200, index=1))
    quiet(VisibleDevicesWrong(), machine(driver={"gpus": two}, variables={"CUDA_VISIBLE_DEVICES": value}))


def test_quiet_when_nobody_knows_what_is_there():
    quiet(VisibleDevicesWrong(), machine(torch=NO_GPU, driver=Driver(), variables={"CUDA_VISIBLE_DEVICES": "3"}))
