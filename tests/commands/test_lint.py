import json
from pathlib import Path

import jsonschema
import pytest

from rldebug.commands import main
from rldebug.evidence.source import parsed
from rldebug.finding import Edit, Finding, Where
from rldebug.lint import mended
from rldebug.render.json import schema

WRONG = "def sync(old):\n    old.load_state_dict(old.state_dict())\n"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


def _lint(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["lint", *words])
    return int(left.value.code or 0)


def test_a_finding_is_shown_with_its_line(capsys):
    Path("train.py").write_text(WRONG, encoding="utf-8")
    assert _lint("train.py") == 1
    said = capsys.readouterr().out
    assert "error[TGT620]: old loads its own weights" in said
    assert "train.py:2:5  loads-its-own-weights" in said
    assert "    2 │ old.load_state_dict(old.state_dict())\n      │ ^" in said


def test_a_clean_folder_is_said_to_be_clean(capsys):
    Path("train.py").write_text("x = 1\n", encoding="utf-8")
    assert _lint(".") == 0
    assert "nothing wrong found · 1 file read" in capsys.readouterr().out


def test_a_remark_silences_it():
    Path("train.py").write_text(WRONG.replace("())\n", "())  # rldebug: ignore[TGT620]\n"), encoding="utf-8")
    assert _lint("train.py") == 0


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("--ignore", "loads-its-own-weights"), 0),
        (("--select", "TGT620"), 1),
        (("--select", "entropy-collapse"), 0),
        (("--select", "no-such-rule"), 2),
    ],
)
def test_rules_can_be_chosen(words, status):
    Path("train.py").write_text(WRONG, encoding="utf-8")
    assert _lint("train.py", *words) == status


def test_what_cannot_be_read_is_said_and_the_rest_goes_on(capsys):
    Path("bad.py").write_text("def f(:\n", encoding="utf-8")
    Path("train.py").write_text(WRONG, encoding="utf-8")
    assert _lint(".") == 2
    said = capsys.readouterr().out
    assert "TGT620" in said
    assert "bad.py:1: not valid Python here" in said


@pytest.mark.parametrize("path", ["missing.py", "."])
def test_nothing_to_read_is_an_error(path, capsys):
    assert _lint(path) == 2
    assert "no " in capsys.readouterr().err


def test_the_report_as_json_keeps_the_contract(capsys):
    Path("train.py").write_text(WRONG, encoding="utf-8")
    assert _lint("train.py", "--json", "-") == 1
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, schema())
    assert told["findings"][0]["where"] | {"file": "train.py", "line": 2, "column": 5} == told["findings"][0]["where"]


def test_sarif_names_rule_place_and_help():
    Path("train.py").write_text(WRONG, encoding="utf-8")
    assert _lint("train.py", "--sarif", "out.sarif") == 1
    told = json.loads(Path("out.sarif").read_text(encoding="utf-8"))
    run = told["runs"][0]
    result = run["results"][0]
    assert told["version"] == "2.1.0"
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "TGT620"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "train.py"
    assert place["region"] == {"startLine": 2, "startColumn": 5}
    assert result["level"] == "error"
    assert run["invocations"][0]["executionSuccessful"]


def test_a_file_on_another_branch_of_the_disk_has_a_whole_address(tmp_path, monkeypatch):
    Path("train.py").write_text(WRONG, encoding="utf-8")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert _lint("../train.py", "--sarif", "out.sarif") == 1
    told = json.loads(Path("out.sarif").read_text(encoding="utf-8"))
    place = told["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].startswith("file:///")


def _mending(*edits: Edit) -> Finding:
    return Finding("OPT001", "a", "optimizer", "error", "m", "s", "e", "h", 0.9, Where("f", 1), edits=edits)


def test_mends_are_written_from_behind_and_never_over_one_another():
    source = parsed("a = f(x)\nb = g(y)\n", "f")
    first = _mending(Edit(1, 5, 1, 9, "f(x).item()"))
    second = _mending(Edit(2, 5, 2, 9, "h(\n    y)"), Edit(1, 1, 1, 2, "c"))
    over = _mending(Edit(1, 7, 1, 8, "z"))
    text, done = mended(source, [first, second, over])
    assert text == "c = f(x).item()\nb = h(\n    y)\n"
    assert done == [first, second]
