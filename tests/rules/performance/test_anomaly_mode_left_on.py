from rldebug.evidence.timing import Host, Measured
from rldebug.rules.performance.anomaly_mode_left_on import AnomalyModeLeftOn
from tests.judge import fires, quiet
from tests.rules.timings import on, points_at_line, timing, yardstick

CODE = """
import torch
torch.autograd.set_detect_anomaly(True)  # switch
while True:
    loss = compute()  # loss
    loss.backward()  # backward
"""
SLICES = [on("loss", 3.0, part="loss"), on("backward", 3.0, part="backward")]


def test_fires_with_what_was_measured():
    measured = yardstick(Measured("anomaly", "", 0.001, 0.003, {"off": 0.001, "on": 0.003}))
    made = timing(CODE, SLICES, host=Host(anomaly=True), yardstick=measured)
    finding = points_at_line(AnomalyModeLeftOn(), made, "switch")
    assert "3 ms with it and 1 ms without" in finding.seen
    assert abs(finding.speedup - 10 / 6) < 0.01


def test_promises_no_more_than_seven_tenths():
    measured = yardstick(Measured("anomaly", "", 0.001, 0.02))
    finding = points_at_line(
        AnomalyModeLeftOn(), timing(CODE, SLICES, host=Host(anomaly=True), yardstick=measured), "switch"
    )
    assert abs(finding.speedup - 10 / 5.8) < 0.01


def test_fires_at_the_hottest_line_with_a_careful_guess():
    code = CODE.replace("torch.autograd.set_detect_anomaly(True)", "from_library()")
    slices = [on("loss", 2.0, part="loss"), on("backward", 6.0, part="backward")]
    finding = points_at_line(AnomalyModeLeftOn(), timing(code, slices, host=Host(anomaly=True)), "backward")
    assert abs(finding.speedup - 10 / 8.4) < 0.01


def test_fires_for_a_profiler_of_the_programs_own():
    finding = fires(AnomalyModeLeftOn(), timing(CODE, SLICES, host=Host(profiler="torch.profiler")))
    assert (finding.severity, finding.speedup) == ("note", None)


def test_quiet_where_it_is_off():
    quiet(AnomalyModeLeftOn(), timing(CODE, SLICES, host=Host()))


def test_quiet_where_it_costs_next_to_nothing():
    measured = yardstick(Measured("anomaly", "", 0.001, 0.00105))
    quiet(AnomalyModeLeftOn(), timing(CODE, SLICES, host=Host(anomaly=True), yardstick=measured))
    quiet(AnomalyModeLeftOn(), timing(CODE, [on("loss", 0.3, part="loss")], host=Host(anomaly=True)))
