import json
import os
import signal
import threading

import pytest

from rldebug.evidence.run import Reading, RunError, encode
from rldebug.render import growing
from rldebug.render.growing import follow
from tests.render.test_exported import FINDING

NOBODY = 2**22 + 1  # above what Linux gives a process


class Shown:
    """A viewer that remembers."""

    where = "here"

    def __init__(self, at=None):
        self.steps, self.flushed, self.end = [], 0, None
        self._at = at or {}

    def add(self, moment):
        self.steps.append(moment.step)

    def flush(self):
        self.flushed += 1
        self._at.get(self.flushed, lambda: None)()

    def close(self, report, settings, last):
        self.end = report, settings, last


class Folder:
    def __init__(self, path, pid=NOBODY):
        self.path, self._pid = path, pid
        path.mkdir()
        self.state("running")

    def state(self, state):
        draft = self.path / "draft"
        draft.write_text(json.dumps({"name": "a run", "state": state, "pid": self._pid, "seed": 7}), encoding="utf-8")
        draft.replace(self.path / "run.json")

    def write(self, text):
        with (self.path / "readings.jsonl").open("a", encoding="utf-8") as file:
            file.write(text)

    def line(self, step):
        return encode(Reading(step, step, float(step), {"policy/kl": 0.1})) + "\n"

    def found(self, *findings):
        lines = "".join(json.dumps(each.to_dict()) + "\n" for each in findings)
        (self.path / "findings.jsonl").write_text(lines, encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path / "run")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(growing, "_POLL", 0.01)
    monkeypatch.setattr(growing, "_TICK", 0.002)
    monkeypatch.setattr(growing, "_STILL", 0.02)


def followed(folder, shown, **more):
    names = []

    def open_viewers(name):
        names.append(name)
        return [shown]

    count = follow(folder.path, open_viewers, "cleanrl", **more)
    assert names == ["a run"]
    assert count == len(shown.steps)
    return shown


def test_a_file_that_grows_line_by_line(folder):
    whole = folder.line(3)

    def end():
        folder.write(whole[10:] + folder.line(4))
        folder.found(FINDING)
        folder.state("finished")

    folder.write(folder.line(0))
    later = {
        1: lambda: folder.write(folder.line(1) + folder.line(2)),
        2: lambda: (folder.write(folder.line(2)[:-1] + "\n" + whole[:10]), end()),
    }
    shown = followed(folder, Shown(later))
    assert shown.steps == [0, 1, 2, 2, 3, 4]
    report, settings, last = shown.end
    assert report.findings == (FINDING,)
    assert (settings["state"], settings["seed"], last.step) == ("finished", "7", 4)


def test_a_last_line_without_an_end_counts_where_it_is_whole(folder):
    folder.write(folder.line(0) + folder.line(1).strip())
    folder.state("crashed")
    assert followed(folder, Shown()).steps == [0, 1]


def test_a_run_that_was_killed_ends_when_it_is_silent(folder, monkeypatch):
    monkeypatch.setattr(growing, "_SILENT", 0.05)
    folder.write(folder.line(0) + '{"update": 1, "env')
    shown = followed(folder, Shown())
    assert shown.steps == [0]
    assert shown.end[0] is None  # no diagnosis


def test_the_diagnosis_is_waited_for_while_its_process_lives(tmp_path):
    folder = Folder(tmp_path / "run", pid=os.getpid())
    folder.write(folder.line(0))
    folder.state("finished")
    writer = threading.Timer(0.2, folder.found, [FINDING])
    writer.start()
    try:
        assert followed(folder, Shown()).end[0].findings == (FINDING,)
    finally:
        writer.join()


def test_but_not_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(growing, "_DIAGNOSIS", 0.05)
    folder = Folder(tmp_path / "run", pid=os.getpid())
    folder.state("finished")
    assert followed(folder, Shown()).end[0] is None


def test_until_it_is_told(tmp_path):
    folder = Folder(tmp_path / "run", pid=os.getpid())
    until = tmp_path / "end"
    folder.write(folder.line(0))
    folder.state("finished")  # the diagnosis comes later, and then the word

    def tell():
        folder.write(folder.line(1))
        folder.found(FINDING)
        until.touch()

    shown = followed(folder, Shown({1: tell}), until=until)
    assert shown.steps == [0, 1]
    assert shown.end[0].findings == (FINDING,)
    assert not until.exists()


def test_ctrl_c_ends_it_with_all_that_is_there(folder):
    before = signal.getsignal(signal.SIGINT)

    def interrupt():
        folder.write(folder.line(1))
        signal.raise_signal(signal.SIGINT)

    folder.write(folder.line(0))
    shown = followed(folder, Shown({1: interrupt}))
    assert shown.steps == [0, 1]
    assert shown.end is not None
    assert signal.getsignal(signal.SIGINT) is before


def test_a_folder_without_a_run(tmp_path, monkeypatch):
    monkeypatch.setattr(growing, "_SILENT", 0.05)
    until = tmp_path / "end"
    until.touch()
    with pytest.raises(RunError, match=r"has no run\.json that can be read"):
        follow(tmp_path, lambda name: [], "cleanrl", until)
    assert not until.exists()
