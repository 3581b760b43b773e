from rldebug.rules.action_sampling.device_assert_triggered import DeviceAssertTriggered
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_the_gpu_asserts():
    names(DeviceAssertTriggered(), crashed(saying(RuntimeError("CUDA error: device-side assert triggered"))))


def test_quiet_when_the_gpu_is_out_of_memory():
    quiet(DeviceAssertTriggered(), crashed(saying(RuntimeError("CUDA out of memory."))))
