import builtins

import numpy as np
import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.scalar.summary_v2 import scalar_pb
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from rldebug.evidence.foreign.tensorboard import read_tensorboard
from rldebug.evidence.run import RunError
from tests.evidence.foreign.logs import tensorboard

LOSS = "losses/policy_loss"


def numbers(count, begin=0, of=LOSS):
    return [(of, begin + i, float(begin + i)) for i in range(count)]


def test_scalars_by_tag_in_the_order_of_their_steps(tmp_path):
    log = read_tensorboard(tensorboard(tmp_path, [*numbers(3, 10), ("charts/episodic_return", 10, 1.5)]))
    assert log.columns[LOSS].step.tolist() == [10, 11, 12]
    assert log.columns[LOSS].value.tolist() == [10.0, 11.0, 12.0]
    assert log.columns[LOSS].seconds.tolist() == [0.0, 1.0, 2.0]
    assert log.columns["charts/episodic_return"].value.tolist() == [1.5]
    assert log.problems == ()


def test_what_was_logged_twice_at_a_step_is_kept_twice(tmp_path):
    log = read_tensorboard(tensorboard(tmp_path, [("r", 5, 1.0), ("r", 5, 2.0)]))
    assert log.columns["r"].value.tolist() == [1.0, 2.0]


def test_scalars_that_are_tensors(tmp_path):
    writer = EventFileWriter(str(tmp_path))
    writer.add_event(Event(step=7, wall_time=1.0, summary=scalar_pb("train/loss", 0.5)))
    writer.close()
    assert read_tensorboard(tmp_path).columns["train/loss"].value.tolist() == [0.5]


def test_settings_from_the_table_that_cleanrl_writes(tmp_path):
    log = read_tensorboard(tensorboard(tmp_path, numbers(3), settings={"gamma": 0.97, "env_id": "CartPole-v1"}))
    assert log.settings == {"gamma": "0.97", "env_id": "CartPole-v1"}
    assert list(log.columns) == [LOSS]


def test_settings_of_the_hparams_plugin(tmp_path):
    from tensorboard.plugins.hparams.summary_v2 import hparams_pb

    writer = EventFileWriter(str(tmp_path))
    writer.add_event(Event(step=0, wall_time=1.0, summary=hparams_pb({"gamma": 0.9, "algorithm": "PPO"})))
    writer.add_event(Event(step=0, wall_time=1.0, summary=Summary(value=[Summary.Value(tag=LOSS, simple_value=1.0)])))
    writer.close()
    assert read_tensorboard(tmp_path).settings == {"gamma": 0.9, "algorithm": "PPO"}


def test_a_run_that_was_resumed_is_one(tmp_path):
    tensorboard(tmp_path, numbers(10), began=1e9)
    tensorboard(tmp_path, numbers(10, 10), began=2e9)
    log = read_tensorboard(tmp_path)
    assert log.columns[LOSS].value.tolist() == list(map(float, range(20)))
    assert log.problems == ()


def test_steps_that_were_taken_again_are_those_of_the_later_file(tmp_path):
    tensorboard(tmp_path, numbers(10), began=1e9)
    tensorboard(tmp_path, [(LOSS, step, -1.0) for step in range(6, 12)], began=2e9)
    log = read_tensorboard(tmp_path)
    assert log.columns[LOSS].step.tolist() == list(range(12))
    assert log.columns[LOSS].value[6:].tolist() == [-1.0] * 6
    assert "begins again at step 6: 4 numbers" in log.problems[0]


def test_files_that_were_written_side_by_side_all_count(tmp_path):
    tensorboard(tmp_path, numbers(10), began=1e9)
    tensorboard(tmp_path, numbers(10, of="charts/SPS"), began=1e9 + 3)
    log = read_tensorboard(tmp_path)
    assert len(log.columns[LOSS]) == len(log.columns["charts/SPS"]) == 10
    assert log.problems == ()


def test_the_one_run_in_a_folder_is_found(tmp_path):
    tensorboard(tmp_path / "runs" / "PPO_1", numbers(3))
    assert len(read_tensorboard(tmp_path).columns[LOSS]) == 3


def test_of_several_runs_one_must_be_named(tmp_path):
    for name in ("PPO_1", "PPO_2"):
        tensorboard(tmp_path / name, numbers(3))
    with pytest.raises(RunError, match=r"logs of 2 runs, name one of them: .*PPO_1, .*PPO_2"):
        read_tensorboard(tmp_path)
    assert len(read_tensorboard(tmp_path / "PPO_2").columns) == 1


def test_logs_below_a_log_are_named_and_not_read(tmp_path):
    tensorboard(tmp_path, numbers(3))
    tensorboard(tmp_path / "1700000.1", numbers(3, of="hparam/metric"))
    log = read_tensorboard(tmp_path)
    assert list(log.columns) == [LOSS]
    assert log.problems == ("below it lie further logs, which were not read: 1700000.1",)


@pytest.mark.parametrize("left", [0.5, 0.97])
def test_of_a_file_that_is_cut_off_the_beginning_is_used(tmp_path, left):
    (file,) = tensorboard(tmp_path, numbers(50)).iterdir()
    data = file.read_bytes()
    file.write_bytes(data[: int(left * len(data))])
    log = read_tensorboard(tmp_path)
    assert 10 < len(log.columns[LOSS]) < 50
    assert "is cut off or damaged after" in log.problems[0]


def test_damage_in_the_middle_ends_the_reading(tmp_path):
    (file,) = tensorboard(tmp_path, numbers(50)).iterdir()
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(bytes(data))
    log = read_tensorboard(tmp_path)
    assert np.array_equal(log.columns[LOSS].value, np.arange(len(log.columns[LOSS])))
    assert len(log.columns[LOSS]) < 50
    assert "damaged" in log.problems[0]


@pytest.mark.parametrize("content", [b"", b"not an event file, by far not", b"\xff" * 100])
def test_a_file_without_a_scalar(tmp_path, content):
    (tmp_path / "events.out.tfevents.1").write_bytes(content)
    with pytest.raises(RunError, match="no scalars in its event files"):
        read_tensorboard(tmp_path)


def test_a_folder_without_a_log(tmp_path):
    with pytest.raises(RunError, match=r"no TensorBoard event file: expected files called \*tfevents\*"):
        read_tensorboard(tmp_path)
    with pytest.raises(RunError, match="is not there"):
        read_tensorboard(tmp_path / "nowhere")


def test_without_the_package_the_message_says_what_to_install(tmp_path, monkeypatch):
    tensorboard(tmp_path, numbers(3))
    real = builtins.__import__

    def missing(name, *rest):
        if name.startswith("tensorboard."):
            raise ModuleNotFoundError(f"No module named {name!r}")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(RunError, match=r"pip install 'rldebug\[tensorboard\]'"):
        read_tensorboard(tmp_path)
