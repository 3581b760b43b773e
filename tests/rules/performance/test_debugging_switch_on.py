import pytest

from rldebug.evidence.machine import Driver
from rldebug.rules.performance.debugging_switch_on import DebuggingSwitchOn
from tests.judge import quiet
from tests.rules.machines import NO_GPU, machine, names


def test_fires_when_kernels_are_waited_for():
    finding = names(DebuggingSwitchOn(), machine(variables={"CUDA_LAUNCH_BLOCKING": "1"}))
    assert finding.help == "unset CUDA_LAUNCH_BLOCKING"


def test_fires_when_python_checks_itself():
    names(DebuggingSwitchOn(), machine(variables={"PYTHONDEVMODE": "1", "PYTHONMALLOC": "debug"}))


@pytest.mark.parametrize("variables", [{}, {"CUDA_LAUNCH_BLOCKING": "0"}, {"PYTHONMALLOC": "malloc"}])
def test_quiet_when_none_is_on(variables):
    quiet(DebuggingSwitchOn(), machine(variables=variables))


def test_quiet_about_the_gpu_where_there_is_none():
    quiet(DebuggingSwitchOn(), machine(torch=NO_GPU, driver=Driver(), variables={"CUDA_LAUNCH_BLOCKING": "1"}))
