import math
import subprocess
import sys

import pytest

from rldebug.evidence.run import Reading, Run
from rldebug.finding import Report
from rldebug.render import exported
from rldebug.render.exported import ExportError, diagnosis_text
from rldebug.render.tensorboard import TensorBoard, write_tensorboard
from tests.render.test_exported import FINDING

META = {"name": "run", "started": "2026-11-18T01:36:50+0000", "seed": 3}


def read_back(folder):
    """By TensorBoard itself."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder), size_guidance={"scalars": 0, "histograms": 0, "tensors": 0})
    return found.Reload()


def readings():
    return [
        Reading(
            i,
            64 * (i // 2),
            float(i),
            {"policy/entropy": 1.0 - 0.1 * i, "grad/norm@critic": 2.0 * i},
            histograms={"histogram/value": [-1.0, 1.0, 3.0, 0.0, i, 1.0]},
        )
        for i in range(6)
    ]


def test_scalars_come_back_with_their_steps_and_times(tmp_path):
    run = Run.of(readings(), META)
    found = read_back(write_tensorboard(run, None, tmp_path))
    entropy = found.Scalars("policy/entropy")
    assert [each.step for each in entropy] == [0, 0, 64, 64, 128, 128]
    assert [each.value for each in entropy] == pytest.approx([1.0, 0.9, 0.8, 0.7, 0.6, 0.5])
    assert [each.wall_time for each in entropy] == [1794965810.0 + i for i in range(6)]
    assert [each.value for each in found.Scalars("losses/entropy")] == [each.value for each in entropy]
    smooth = [each.value for each in found.Scalars("smoothed/policy/entropy")]
    assert smooth == pytest.approx(list(run["policy/entropy"].ema().value))
    assert len(found.Scalars("grad/norm@critic")) == 6


def test_histograms_come_back_with_their_counts(tmp_path):
    found = read_back(write_tensorboard(Run.of(readings(), META), None, tmp_path))
    last = found.Histograms("histogram/value")[-1]
    assert last.step == 128
    assert last.histogram_value.bucket == [3.0, 0.0, 5.0, 1.0]
    assert last.histogram_value.bucket_limit == [-0.5, 0.0, 0.5, 1.0]
    assert (last.histogram_value.min, last.histogram_value.max, last.histogram_value.num) == (-1.0, 1.0, 9.0)
    assert last.histogram_value.sum == 3 * -0.75 + 5 * 0.25 + 0.75


def test_the_diagnosis_and_the_settings_are_texts(tmp_path):
    report = Report("report", (FINDING,))
    found = read_back(write_tensorboard(Run.of(readings(), META), report, tmp_path))
    (said,) = found.Tensors("rldebug/diagnosis")
    assert said.step == 128
    assert said.tensor_proto.string_val[0].decode() == diagnosis_text(report)
    assert b"| seed | 3 |" in found.Tensors("rldebug/run")[0].tensor_proto.string_val[0]
    assert found.SummaryMetadata("rldebug/diagnosis").plugin_data.plugin_name == "text"


def test_numbers_that_are_none_and_names_that_are_odd(tmp_path):
    odd = "loss/<b>π ∆</b>\n[0] \udce9"
    values = [math.nan, math.inf, -math.inf, 1e300, 1e-320]
    found = read_back(write_tensorboard(Run.from_series({odd: values}, meta=META), None, tmp_path))
    (name,) = (each for each in found.Tags()["scalars"] if each.startswith("loss/"))
    assert name.startswith("loss/<b>π ∆</b>\n[0] ")
    read = [each.value for each in found.Scalars(name)]
    assert math.isnan(read[0])
    assert read[1:] == [math.inf, -math.inf, math.inf, 0.0]  # TensorBoard keeps 32 bits


def test_a_run_without_readings(tmp_path):
    found = read_back(write_tensorboard(Run.of([], META), Report("report"), tmp_path))
    assert found.Tags()["scalars"] == []
    assert found.Tensors("rldebug/diagnosis")[0].tensor_proto.string_val == [b"Nothing wrong was found."]


def test_what_is_there_is_not_mixed_with(tmp_path):
    run = Run.of(readings(), {**META, "name": "../a b"})
    first, second = (write_tensorboard(run, None, tmp_path / "tb") for _ in range(2))
    assert (first.name, second.name) == ("-a-b", "-a-b-2")
    assert {each.parent for each in (first, second)} == {tmp_path / "tb"}
    assert len(read_back(second).Scalars("policy/entropy")) == 6


def test_it_is_there_to_be_read_while_it_is_written(tmp_path):
    viewer = TensorBoard(tmp_path, "run")
    arrange = exported.Arranger(META)
    for each in readings()[:2]:
        viewer.add(arrange(each))
    viewer.flush()
    assert len(read_back(viewer.folder).Scalars("policy/entropy")) == 2
    viewer.close(None, {}, arrange.last)


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setattr(exported, "find_spec", lambda name: None)
    with pytest.raises(ExportError, match=r"tensorboard is not installed: pip install 'rldebug\[tensorboard\]'"):
        TensorBoard(tmp_path, "run")
    assert list(tmp_path.iterdir()) == []


def test_it_does_without_torch(tmp_path):
    code = (
        "import sys; from pathlib import Path; from rldebug.evidence.run import Run\n"
        "from rldebug.render.tensorboard import write_tensorboard\n"
        "write_tensorboard(Run.from_series({'policy/kl': [0.1]}), None, Path('tb'))\n"
        "assert not {'torch', 'tensorflow', 'gymnasium'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
