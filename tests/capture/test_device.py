import resource
import sys

import pytest
import torch

from rldebug.capture import device


def test_resident_memory():
    seen = device.read_device()
    if not sys.platform.startswith("linux"):
        pytest.skip("read from /proc")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert 1e6 < seen.resident <= peak * 1.05


def test_no_sensor_is_no_reading(monkeypatch):
    monkeypatch.setattr("builtins.open", lambda *a, **k: (_ for _ in ()).throw(OSError("no /proc here")))
    seen = device.read_device()
    assert seen.resident is None
    if not torch.cuda.is_available():
        assert seen.allocated is seen.utilisation is seen.temperature is None


class FakeNvml:
    """A card without a fan."""

    NVML_TEMPERATURE_GPU = 0

    class NVMLError(Exception):
        pass

    def nvmlDeviceGetMemoryInfo(self, handle):
        return type("Memory", (), {"used": 123})()

    def nvmlDeviceGetUtilizationRates(self, handle):
        return type("Rates", (), {"gpu": 50})()

    def nvmlDeviceGetTemperature(self, handle, kind):
        return 60

    def nvmlDeviceGetFanSpeed(self, handle):
        raise self.NVMLError("not supported")


def test_a_card_tells_what_it_has(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml())
    monkeypatch.setattr(device, "_handle", lambda index: object())
    assert device._nvml(0) == {"gross": 123, "utilisation": 0.5, "temperature": 60, "fan": None}


def test_without_nvml_nothing_is_said(monkeypatch):
    device._handle.cache_clear()
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert device._nvml(0) == {}
    device._handle.cache_clear()
