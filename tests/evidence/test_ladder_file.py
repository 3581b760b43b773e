"""A ladder that was kept is the ladder that was climbed; a damaged file is an entry that says so."""

import json
import os

import numpy as np
import pytest

from rldebug.evidence.ladder_file import file_of, read_ladder, read_ladders, write_ladder
from rldebug.finding import Finding, Report, Where
from tests.evidence.test_ladder_data import LADDER, same

FOUND = Finding(
    code="DIS001", name="a-name", component="discounting", severity="error", message="rewards are not carried back",
    seen="first is worth 0.000", expected="0.990", help="look at the target", confidence=0.9,
    where=Where(file="mine.py", line=3), follows=("TGT001",),
)  # fmt: skip
REPORT = Report(
    "probe", (FOUND,), checked=("DIS001",), skipped={"TGT001": "needs a target network"}, exit=1, title=LADDER.target,
    program={"target": LADDER.target, "gamma": None},
)  # fmt: skip


def test_what_is_kept_comes_back_with_its_report(tmp_path):
    file = write_ladder(LADDER, REPORT, tmp_path / "deep" / "probes")
    [kept] = read_ladders(tmp_path / "deep" / "probes")
    assert (kept.path, kept.target, kept.problem) == (file, LADDER.target, "")
    same(kept.ladder, LADDER)
    assert kept.report == REPORT
    json.loads(file.read_text(encoding="utf-8"), parse_constant=pytest.fail)  # NaN would be no JSON


def test_the_last_climb_of_a_target_replaces_the_one_before(tmp_path):
    first = write_ladder(LADDER, REPORT, tmp_path)
    assert write_ladder(LADDER, Report("probe"), tmp_path) == first
    [kept] = read_ladders(tmp_path)
    assert kept.report.findings == ()
    assert os.listdir(tmp_path) == [first.name]  # nothing half written is left


def test_targets_that_look_alike_have_files_of_their_own(tmp_path):
    names = ["a/b.py:make", "a-b.py:make", "A/b.py:make", "../../etc/passwd", "", "é" * 300, "\udc80.py"]
    files = [file_of(each, tmp_path) for each in names]
    assert len({str(each).lower() for each in files}) == len(names)
    for each in files:
        assert each.parent == tmp_path
        assert len(each.name) < 100
        assert each.name.isascii()


def test_newest_first_and_none_where_there_is_no_folder(tmp_path):
    assert read_ladders(tmp_path / "none") == []
    for target, written in (("old", 1.0), ("new", 3.0), ("between", 2.0)):
        file = write_ladder(type(LADDER)(target, ()), REPORT, tmp_path)
        data = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps({**data, "written": written}), encoding="utf-8")
    assert [each.target for each in read_ladders(tmp_path)] == ["new", "between", "old"]


@pytest.fixture
def stored(tmp_path):
    return json.loads(write_ladder(LADDER, REPORT, tmp_path).read_text(encoding="utf-8"))


def _damaged(tmp_path, text):
    file = tmp_path / "damaged.json"
    file.write_text(text, encoding="utf-8")
    kept = read_ladder(file)
    assert kept.ladder is None
    assert kept.report is None
    assert kept.target == "damaged"
    assert kept.written > 0
    assert "\n" not in kept.problem
    assert len(kept.problem) < 300
    return kept.problem


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "damaged.json cannot be read"),
        ('{"format": 1, "ladder', "cannot be read"),
        ("[" * 200_000, "cannot be read"),
        ("[]", "not written by `rldebug probe`"),
        ('{"format": 99}', "format 99"),
        ('{"format": 1}', "'written' is missing"),
    ],
    ids=["empty", "cut off", "deep", "list", "newer", "bare"],
)
def test_what_is_no_ladder_says_so(tmp_path, text, said):
    assert said in _damaged(tmp_path, text)


def test_a_wrong_part_is_named(tmp_path, stored):
    stored["report"]["findings"][0]["message"] = ["<script>"]
    assert "report.findings[0].message is list, expected text" in _damaged(tmp_path, json.dumps(stored))


def test_a_finding_of_no_component_is_refused(tmp_path, stored):
    stored["report"]["findings"][0]["component"] = "<b>"
    assert "no component is called" in _damaged(tmp_path, json.dumps(stored))


def test_an_impossible_time_is_not_believed(tmp_path, stored):
    file = tmp_path / "odd.json"
    for odd in ("nan", -1, 1e300):
        file.write_text(json.dumps({**stored, "written": odd}), encoding="utf-8")
        kept = read_ladder(file)
        assert (kept.problem, kept.written) == ("", file.stat().st_mtime)


def test_links_pipes_and_folders_are_not_opened(tmp_path):
    outside = tmp_path / "outside.json"
    outside.write_text("{}", encoding="utf-8")
    folder = tmp_path / "probes"
    folder.mkdir()
    (folder / "link.json").symlink_to(outside)
    (folder / "folder.json").mkdir()
    os.mkfifo(folder / "pipe.json")
    (folder / "notes.txt").write_text("not ours", encoding="utf-8")
    kept = read_ladders(folder)
    assert sorted(each.target for each in kept) == ["folder", "link", "pipe"]
    assert all("not a plain file" in each.problem for each in kept)


def test_one_damaged_file_costs_no_other(tmp_path):
    write_ladder(LADDER, REPORT, tmp_path)
    (tmp_path / "damaged.json").write_bytes(np.arange(256, dtype=np.uint8).tobytes())
    assert sorted(bool(each.problem) for each in read_ladders(tmp_path)) == [False, True]
