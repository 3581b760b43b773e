import json
import os

import pytest

from rldebug.dashboard.runs import Runs

from .conftest import SOUND, append, write_run

LONG_AGO = (0, 0)


def rows(root, only=None):
    runs = Runs(root, only)
    runs.look()
    return runs.rows


def age(folder):
    for file in folder.iterdir():
        os.utime(file, LONG_AGO)


def test_newest_first_with_what_run_json_says(root):
    write_run(root / "old", started="2026-01-01T00:00:00+0000")
    write_run(root / "new", started="2026-01-02T00:00:00+0000", updates=5, env_steps=80, env={"id": "CartPole-v1"})
    found = rows(root)
    assert list(found) == ["new", "old"]
    assert found["new"].to_dict() == {
        "id": "new", "title": "new", "state": "finished", "started": "2026-01-02T00:00:00+0000", "updates": 5,
        "env_steps": 80, "env": "CartPole-v1", "problem": "", "ranks": 1,
    }  # fmt: skip


def test_changes_are_noticed_and_nothing_else(root):
    runs = Runs(root)
    assert not runs.look()
    folder = write_run(root / "a", state="running", pid=os.getpid())
    assert runs.look()
    assert not runs.look()
    append(folder)
    assert not runs.look()  # that is for whoever looks at the run
    (folder / "run.json").write_text('{"state": "crashed"}')
    assert runs.look()
    assert runs.rows["a"].state == "crashed"
    (folder / "run.json").unlink()
    assert runs.look()
    assert not runs.rows


def test_folders_without_run_json_and_files_are_no_runs(root):
    root.mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "file").write_text("")
    assert not rows(root)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", "null", '"x"', "[" * 100_000, "\xff", '{"a": 1' + " " * 5_000_000 + "}"]
)
def test_a_run_json_that_makes_no_sense_is_a_row_that_says_so(root, text):
    folder = write_run(root / "odd")
    (folder / "run.json").write_bytes(text.encode("latin-1"))
    row = rows(root)["odd"]
    assert row.problem.startswith("run.json cannot be read")
    assert str(root) not in row.problem


def test_wrong_types_in_run_json_are_left_out(root):
    write_run(root / "odd", name=["x"], state={"a": 1}, started=7, updates="many", env_steps=-1, env=[1], pid="x")
    told = rows(root)["odd"].to_dict()
    assert (told["title"], told["state"], told["updates"], told["env_steps"], told["env"]) == (
        "odd",
        "",
        None,
        None,
        "",
    )
    write_run(root / "odd-2", updates=True, env_steps=10**30, env={"id": 3}, pid=10**30, state="running")
    assert rows(root)["odd-2"].updates is None
    json.dumps([each.to_dict() for each in rows(root).values()], allow_nan=False)


def test_a_link_is_not_followed(root, tmp_path):
    write_run(tmp_path / "elsewhere" / "secret")
    root.mkdir(parents=True)
    (root / "link").symlink_to(tmp_path / "elsewhere" / "secret")
    row = rows(root)["link"]
    assert "link" in row.problem
    assert not row.processes


def test_a_linked_run_json_is_not_read(root, tmp_path):
    (tmp_path / "other.json").write_text('{"name": "secret", "state": "finished"}')
    folder = write_run(root / "a")
    (folder / "run.json").unlink()
    (folder / "run.json").symlink_to(tmp_path / "other.json")
    row = rows(root)["a"]
    assert row.problem
    assert "secret" not in str(row)


def test_a_name_that_is_no_text(root):
    root.mkdir(parents=True)
    name = os.fsencode(root) + b"/\xff\xfe"
    os.mkdir(name)
    with open(name + b"/run.json", "w") as file:
        file.write("{}")
    (id,) = rows(root)
    assert id.encode("utf-8")


def test_a_run_without_an_end(root):
    folder = write_run(root / "a", state="running", pid=2**22 + 12345)
    assert rows(root)["a"].state == "running"  # it has just written something: perhaps on another machine
    age(folder)
    assert rows(root)["a"].state == "killed"
    folder = write_run(root / "b", state="running", pid=os.getpid())
    age(folder)
    assert rows(root)["b"].state == "running"


def test_ranks_are_one_run(root):
    for name in ("train", "train-rank1", "train-rank2"):
        write_run(root / name)
    (row,) = rows(root).values()
    assert [each.label for each in row.processes] == ["train", "train, rank 1", "train, rank 2"]
    assert row.to_dict()["ranks"] == 3


def test_one_run_alone_comes_with_its_ranks(root):
    for name in ("train", "train-rank1", "other"):
        write_run(root / name)
    (row,) = rows(root, "train").values()
    assert len(row.processes) == 2


def test_the_busiest_child_is_the_run_while_the_first_process_trains_nothing(root):
    folder = write_run(root / "a", {}, state="running", pid=os.getpid())
    (folder / "readings.jsonl").write_text("")
    write_run(folder / "children" / "00", {"x": [1.0]})
    write_run(folder / "children" / "01", SOUND)
    runs = Runs(root)
    runs.look()
    assert [each.id for each in runs.rows["a"].processes] == ["a/children/01", "a/children/00"]
    assert set(runs.processes) == {"a/children/01", "a/children/00"}


def test_a_child_whose_readings_were_copied_is_not_shown_twice(root):
    folder = write_run(root / "a", SOUND)
    write_run(folder / "children" / "00", SOUND)
    write_run(folder / "children" / "01", {"x": [1.0]})
    assert [each.id for each in rows(root)["a"].processes] == ["a", "a/children/01"]


def test_thousands_of_folders(root):
    for i in range(3000):
        folder = root / f"run-{i % 1500}{'-rank1' if i >= 1500 else ''}"
        folder.mkdir(parents=True)
        (folder / "run.json").write_text('{"started": "2026-01-01T00:00:00+0000"}')
    runs = Runs(root)
    assert runs.look()
    assert len(runs.rows) == 1500
    assert not runs.look()
