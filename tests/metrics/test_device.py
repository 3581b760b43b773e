from rldebug.capture.device import read_device
from rldebug.rollout import Device
from tests.metrics.reading import number, numbers

NAMES = "host/resident gpu/allocated gpu/reserved gpu/gross gpu/utilisation gpu/temperature gpu/fan"


def test_each_sensor_is_passed_on():
    device = Device(
        resident=10, allocated=20, reserved=30, gross=40, utilisation=0.5, temperature=61.0, fan=35.0
    )  # fmt: skip
    assert numbers(NAMES, device) == (10, 20, 30, 40, 0.5, 61.0, 35.0)


def test_host_memory_is_that_of_this_process():
    before = number("host/resident", read_device())
    block = bytearray(64 * 2**20)
    block[:: 2**12] = b"\x01" * len(block[:: 2**12])  # touch every page
    assert number("host/resident", read_device()) - before > 32 * 2**20
