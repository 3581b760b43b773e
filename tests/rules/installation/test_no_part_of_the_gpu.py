from dataclasses import replace

from rldebug.rules.installation.no_part_of_the_gpu import NoPartOfTheGpu
from tests.judge import quiet
from tests.rules.machines import H200, machine, names

SPLIT = {"gpus": (replace(H200, mig=True),)}


def test_fires_when_no_part_was_handed_over():
    torch = {"available": False, "count": 0, "computed": None, "capabilities": ()}
    finding = names(NoPartOfTheGpu(), machine(torch=torch, driver=SPLIT))
    assert "nvidia-smi -L" in finding.help


def test_quiet_when_torch_computes_on_a_part():
    quiet(NoPartOfTheGpu(), machine(driver=SPLIT))
