from rldebug.rules.performance.checkpoints_dominate import CheckpointsDominate
from tests.judge import quiet
from tests.rules.timings import on, points_at_line, timing

CODE = """
import torch
while True:
    loss.backward()  # backward
    torch.save(actor.state_dict(), "last.pt")  # save
"""


def test_fires_at_each_update():
    slices = [on("save", 2.0, part="saving", before="update", after="backward")]
    finding = points_at_line(CheckpointsDominate(), timing(CODE, slices), "save")
    assert finding.message == "checkpoints take 20% of the run"
    assert finding.seen == "2 s, 2 ms for each of 1 000 updates on average"
    assert abs(finding.speedup - 10 / 8.2) < 0.01


def test_fires_at_each_iteration():
    slices = [on("save", 2.0, part="saving", before="update", after="step")]
    assert "10 stretches" in points_at_line(CheckpointsDominate(), timing(CODE, slices), "save").seen


def test_quiet_now_and_then():
    quiet(CheckpointsDominate(), timing(CODE, [on("save", 0.3, part="saving", before="update", after="step")]))


def test_quiet_for_the_last_one():
    quiet(CheckpointsDominate(), timing(CODE, [on("save", 2.0, part="saving", before="update", after="end")]))
