import json
import math
import os

import pytest

from rldebug.dashboard import followed
from rldebug.dashboard.desk import Desk, NoSuchRun
from rldebug.finding import Finding, Report

from .conftest import SOUND, Unable, append, write_run

FOUND = Finding("ACT001", "some-fault", "action-sampling", "error", "it is wrong", "this", "that", "do so", 0.9)
TOLD = {
    "derived": {"made/up": [[0, 1], [0, 64], [math.nan, 2.0]]},
    "known": {"metrics": {}, "rules": {}, "columns": {}},
    "graph": "",
    "settings": None,
    "trace": None,
    "source": {},
    "report": {**Report("report", (FOUND,)).to_dict(), "title": "sick", "problems": []},
}


class Able(Unable):
    def ask(self, folder):
        self.asked.append(folder.name)
        return TOLD


@pytest.fixture
def desk(root):
    made = Desk(root, judging=Unable())
    yield made
    made.close()


def page(desk, *ids):
    return json.loads(desk.page(*ids[:1], ids[1:]))


def section(page, id):
    return next(each for each in page["sections"] if each["id"] == id)


def step(desk):
    desk.step()
    desk._judge.submit(lambda: None).result()  # what was to be judged has been


def test_nothing_is_drawn_twice(desk, root):
    write_run(root / "a")
    desk.step()
    assert desk.page("a") is desk.page("a")
    append(root / "a")
    desk._followed["a"]._bumped = 0.0  # a second later
    before = desk.versions(["a"])
    step(desk)
    assert desk.versions(["a"]) != before
    assert page(desk, "a")["versions"] == desk.versions(["a"])


def test_only_what_is_looked_at_is_read(desk, root):
    write_run(root / "a")
    write_run(root / "b")
    desk.step()
    assert not desk._followed
    desk.lookers.update(["a"])
    desk.step()
    assert list(desk._followed) == ["a"]


def test_there_is_no_such_run(desk, root):
    write_run(root / "a")
    desk.step()
    with pytest.raises(NoSuchRun):
        desk.page("b")


def test_a_run_is_judged_once(root):
    desk = Desk(root, judging=Able())
    write_run(root / "sick")
    desk.step()
    assert "being looked at" in section(page(desk, "sick"), "diagnosis")["html"]
    step(desk)
    step(desk)
    assert desk.judging.asked == ["sick"]
    assert 'class="finding' in section(page(desk, "sick"), "diagnosis")["html"]
    assert desk.listing()["runs"][0]["verdict"] == {"errors": 1, "warnings": 0, "notes": 0}
    append(root / "sick")
    step(desk)
    assert desk.judging.asked == ["sick", "sick"]
    desk.close()


def test_a_run_that_goes_on_is_not_judged_all_the_time(desk, root, monkeypatch):
    folder = write_run(root / "a", state="running", pid=os.getpid())
    desk.lookers.update(["a"])
    for _ in range(3):
        step(desk)
        append(folder)
    assert desk.judging.asked == ["a"]
    monkeypatch.setattr(followed, "_FIRST_JUDGING", 0.0)
    step(desk)
    assert desk.judging.asked == ["a", "a"]


def test_what_cannot_be_judged_is_drawn_and_says_why(desk, root):
    write_run(root / "a")
    desk.step()
    desk.page("a")
    step(desk)
    drawn = page(desk, "a")
    assert "nobody is there" in section(drawn, "diagnosis")["html"]
    assert section(drawn, "policy")["charts"]


def test_ranks_are_drawn_together_and_each_is_judged(desk, root):
    write_run(root / "train")
    write_run(root / "train-rank1", SOUND)
    desk.step()
    drawn = page(desk, "train")
    assert len(section(drawn, "policy")["charts"][0]["curves"]) == 2
    assert "train, rank 1" in drawn["legend"]
    step(desk)
    assert desk.judging.asked == ["train", "train-rank1"]


def test_a_run_that_was_killed_says_so(desk, root):
    folder = write_run(root / "a", state="running", pid=2**22 + 12345)
    for file in folder.iterdir():
        os.utime(file, (0, 0))
    desk.step()
    assert "was killed" in page(desk, "a")["sections"][0]["html"]


@pytest.mark.parametrize("text", ["{", '{"format": 1}', "[]", '{"format": 2}'])
def test_a_timing_that_makes_no_sense_is_told(desk, root, text):
    (write_run(root / "a") / "timing.json").write_text(text)
    desk.step()
    head = page(desk, "a")["sections"][0]["html"]
    assert "timing.json" in head
    assert str(root) not in head


def test_many_runs_are_counted(desk, root, monkeypatch):
    monkeypatch.setattr("rldebug.dashboard.desk._LISTED", 2)
    for name in "abc":
        write_run(root / name)
    desk.step()
    assert (len(desk.listing()["runs"]), desk.listing()["more"]) == (2, 1)
