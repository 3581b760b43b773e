from typing import Any

from rldebug.evidence.timing import Measured, Network, Timing
from rldebug.rules.performance.network_in_float64 import NetworkInFloat64
from tests.judge import quiet
from tests.rules.timings import on, points_at_line, timing, yardstick

CODE = """
import torch
actor = Actor().double()  # double
while True:
    env.step(actor(obs))  # act
    loss.backward()  # backward
"""
DEFAULT = (
    CODE.replace(".double()", "").replace("# double", "# made") + "torch.set_default_dtype(torch.float64)  # default\n"
)
MEASURED = yardstick(Measured("precision", "", 0.001, 0.002, {"float32": 0.001, "float64": 0.002}))
SHAPES = ((256, 64), (256,))
WIDE = Network("actor", SHAPES, dtype="float64")


def run(code: str = CODE, networks: tuple[Network, ...] = (WIDE,), **fields: Any) -> Timing:
    slices = [on("act", 2.0, part="acting"), on("backward", 6.0, part="backward")]
    return timing(code, slices, networks=networks, **({"yardstick": MEASURED} | fields))


def test_fires_where_the_networks_are_made_so():
    finding = points_at_line(NetworkInFloat64(), run(), "double")
    assert finding.message == "`actor` computes in float64"
    assert "2 ms in float64 and 1 ms in float32" in finding.seen
    assert abs(finding.speedup - 10 / 6) < 0.01


def test_fires_where_it_is_the_default():
    points_at_line(NetworkInFloat64(), run(DEFAULT), "default")


def test_promises_for_the_networks_in_float64_alone():
    finding = points_at_line(NetworkInFloat64(), run(networks=(WIDE, Network("critic", SHAPES))), "double")
    assert abs(finding.speedup - 10 / 8) < 0.01


def test_quiet_in_float32():
    quiet(NetworkInFloat64(), run(networks=(Network("actor", SHAPES),)))


def test_quiet_where_it_makes_no_difference_or_was_not_measured():
    quiet(NetworkInFloat64(), run(yardstick=yardstick(Measured("precision", "", 0.001, 0.00104))))
    quiet(NetworkInFloat64(), run(yardstick={}))
