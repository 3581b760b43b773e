import json
import sys

import pytest

from rldebug.evidence.foreign.arrange import run_of
from rldebug.evidence.foreign.wandb_offline import read_wandb
from rldebug.evidence.run import RunError
from tests.evidence.foreign.logs import wandb_file


def history(step, **row):
    from wandb.proto.wandb_internal_pb2 import Record

    record = Record()
    record.history.step.num = step
    for name, value in {**row, "_step": step, "_runtime": step * 0.5}.items():
        item = record.history.item.add()
        item.nested_key.append(name)
        item.value_json = value if isinstance(value, str) else json.dumps(value)
    return record.SerializeToString()


def settings(**values):
    from wandb.proto.wandb_internal_pb2 import Record

    record = Record()
    for name, value in values.items():
        item = record.run.config.update.add()
        item.key, item.value_json = name, json.dumps(value)
    return record.SerializeToString()


def rows(count):
    for step in range(count):
        yield history(
            step, **{"global_step": 100 * step, "losses/value_loss": 1.0 + step, "words": '"' + "x" * 300 + '"'}
        )


@pytest.fixture
def folder(tmp_path):
    wandb_file(tmp_path / "wandb" / "offline-run-1" / "run-1.wandb", [settings(gamma=0.9, seed=4), *rows(400)])
    return tmp_path


def test_history_and_settings(folder):
    log = read_wandb(folder / "wandb" / "offline-run-1")
    assert log.columns["losses/value_loss"].value.tolist() == [1.0 + i for i in range(400)]
    assert log.settings == {"gamma": 0.9, "seed": 4}
    assert log.problems == ()
    run = run_of(log)
    assert (run.gamma, run.meta["seed"], run.env_steps) == (0.9, 4, 39900)
    assert run.readings[10].seconds == 5.0


def test_objects_are_taken_apart_and_pictures_left_out(tmp_path):
    row = {"losses": {"value_loss": 2.0}, "shown": {"_type": "histogram", "values": [1]}, "bad": "NaN", "loss": '"NaN"'}
    log = read_wandb(wandb_file(tmp_path / "run.wandb", [history(0, **row)]))
    assert log.columns["losses/value_loss"].value.tolist() == [2.0]
    assert str(log.columns["bad"].value[0]) == str(log.columns["loss"].value[0]) == "nan"
    assert not any(name.startswith("shown") for name in log.columns)


def test_a_message_longer_than_a_block(tmp_path):
    long = history(1, **{"losses/value_loss": 3.0, "text": '"' + "x" * 100_000 + '"'})
    log = read_wandb(wandb_file(tmp_path / "run.wandb", [history(0, **{"losses/value_loss": 2.0}), long]))
    assert log.columns["losses/value_loss"].value.tolist() == [2.0, 3.0]


def test_the_folder_called_wandb_and_the_one_above(folder):
    (folder / "wandb" / "latest-run").symlink_to("offline-run-1")
    for where in (folder, folder / "wandb", folder / "wandb" / "latest-run"):
        assert len(read_wandb(where).columns["losses/value_loss"]) == 400


def test_of_several_runs_one_must_be_named(folder):
    wandb_file(folder / "wandb" / "offline-run-2" / "run-2.wandb", rows(2))
    with pytest.raises(RunError, match=r"2 runs of wandb, name one of them: .*offline-run-1, .*offline-run-2"):
        read_wandb(folder)


def test_of_a_file_that_is_cut_off_the_beginning_is_used(folder):
    file = folder / "wandb" / "offline-run-1" / "run-1.wandb"
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    log = read_wandb(file)
    assert 100 < len(log.columns["losses/value_loss"]) < 300
    assert "is cut off or damaged after" in log.problems[0]


def test_a_damaged_record_ends_the_reading(folder):
    file = folder / "wandb" / "offline-run-1" / "run-1.wandb"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(bytes(data))
    log = read_wandb(file)
    assert 100 < len(log.columns["losses/value_loss"]) < 300
    assert "damaged" in log.problems[0]


def test_files_that_are_no_run(tmp_path):
    (tmp_path / "a.wandb").write_bytes(b"something else")
    with pytest.raises(RunError, match="does not begin with :W&B"):
        read_wandb(tmp_path)
    with pytest.raises(RunError, match=r"nothing was logged with wandb\.log"):
        read_wandb(wandb_file(tmp_path / "a.wandb", [settings(gamma=0.9)]))
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunError, match="has no run of wandb"):
        read_wandb(tmp_path / "empty")
    with pytest.raises(RunError, match="is not there"):
        read_wandb(tmp_path / "nowhere")


def test_without_the_package_the_message_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb.proto.wandb_internal_pb2", None)
    with pytest.raises(RunError, match=r"pip install 'rldebug\[wandb\]'"):
        read_wandb(folder)
