import json
import os
from multiprocessing.process import BaseProcess
from pathlib import Path

from rldebug.capture import children
from rldebug.evidence.script import read_script
from rldebug.forensics.rank_summary import with_ranks


def lines(folder: Path, *each: dict[str, object]) -> None:
    folder.mkdir(parents=True)
    (folder / "script.jsonl").write_text("".join(json.dumps(line) + "\n" for line in each))


def counts(updates: int) -> dict[str, object]:
    return {"thing": "counts", "key": "all", "updates": updates, "env_steps": 10}


def test_a_run_whose_first_process_trains_nothing_is_that_of_its_child(tmp_path):
    lines(tmp_path / "run", counts(0))
    (tmp_path / "run" / "run.json").write_text("{}")
    rank = {"thing": "rank", "key": "own", "rank": 0, "world": 2}
    lines(tmp_path / "run" / children.FOLDER / "00", counts(7), rank)
    lines(tmp_path / "run" / children.FOLDER / "01", counts(6), {**rank, "rank": 1})
    children.gather(tmp_path / "run")
    script = read_script(tmp_path / "run")
    assert script is not None
    assert script.counts["updates"] == 7
    together, _, _ = with_ranks(tmp_path / "run", script)
    assert [(each["rank"], each["world"], each["told"]) for each in together.noted("child")] == [
        (0, 2, True), (1, 2, False),
    ]  # fmt: skip


def test_a_run_that_trains_by_itself_keeps_its_own(tmp_path):
    lines(tmp_path / "run", counts(5))
    lines(tmp_path / "run" / children.FOLDER / "00", counts(70))
    children.gather(tmp_path / "run")
    script = read_script(tmp_path / "run")
    assert script is not None
    assert script.counts["updates"] == 5


def test_a_run_without_children_is_left_alone(tmp_path):
    lines(tmp_path / "run", counts(5))
    before = (tmp_path / "run" / "script.jsonl").read_text()
    children.gather(tmp_path / "run")
    assert (tmp_path / "run" / "script.jsonl").read_text() == before


def test_only_processes_that_run_code_of_the_program_are_watched():
    class Process:
        _args = ()
        run = BaseProcess.run

    mine, theirs, handed = Process(), Process(), Process()
    mine._target, theirs._target, handed._target = counts, os.getpid, os.getpid
    handed._args = (counts, 0)
    assert children._runs_users_code(mine)
    assert not children._runs_users_code(theirs)
    assert children._runs_users_code(handed)


def test_a_spawned_child_is_told_where_to_record(monkeypatch):
    command = children._command(lambda **given: ["python", "-c", "from x import main; main()", "--fork"])
    assert command() == ["python", "-c", "from x import main; main()", "--fork"]
    monkeypatch.setattr(children, "_coming", ("/runs/a/children/00", 0.03, ()))
    told = command()
    assert told[:2] == ["python", "-c"]
    assert "/runs/a/children/00" in told[2]
    assert told[2].endswith("from x import main; main()")
    compile(told[2], "told", "exec")
