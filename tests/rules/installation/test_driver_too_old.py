from rldebug.rules.installation.driver_too_old import DriverTooOld
from tests.judge import quiet
from tests.rules.machines import machine, names

OLD = {"version": "535.104.05", "cuda": "12.2"}


def test_fires_when_pytorch_is_a_generation_ahead():
    torch = {"available": False, "count": 0, "computed": None, "capabilities": ()}
    finding = names(DriverTooOld(), machine(torch=torch, driver=OLD))
    assert "driver 535.104.05, for CUDA up to 12.2" in finding.seen
    assert finding.expected.startswith("driver 580")
    assert "whl/cu126" in finding.help


def test_quiet_within_a_generation():
    quiet(DriverTooOld(), machine(torch={"cuda": "12.8", "computed": None, "available": False}, driver=OLD))


def test_quiet_when_it_computes_all_the_same():
    quiet(DriverTooOld(), machine(driver=OLD))
