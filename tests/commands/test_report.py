import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from rldebug.render.json import schema
from tests.commands.conftest import COLLAPSED, SOUND, write_run


def checked(text):
    report = json.loads(text)
    jsonschema.validate(report, schema(), cls=jsonschema.Draft202012Validator)
    return report


def test_a_finding_is_printed_and_the_status_says_so(rldebug, sick):
    said = rldebug("report", sick)
    assert said.status == 1
    assert "warning[ENT001]: policy entropy collapsed early" in said.out
    assert "rules ran" in said.out


def test_a_clean_run(rldebug, sound):
    said = rldebug("report", "sound")
    assert said.status == 0, said.out
    assert "nothing wrong found" in said.out
    assert "learning: episode/return_mean went from" in said.out


def test_json_follows_the_contract(rldebug, sick, sound):
    for name, status in (("sick", 1), ("sound", 0)):
        assert rldebug("report", name, "--json", "out.json").status == status
        report = checked(Path("out.json").read_text(encoding="utf-8"))
        assert report["command"] == "report"
        assert report["exit"] == status
        assert bool(report["suspects"]) == bool(status)


def test_json_on_stdout_is_pure(rldebug, sick):
    said = rldebug("report", "sick", "--json", "-")
    assert said.status == 1
    assert "ENT001" in [each["code"] for each in checked(said.out)["findings"]]


def test_json_through_a_real_pipe(sick):
    command = [sys.executable, "-c", "from rldebug.commands import main; main()", "report", "sick", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "FORCE_COLOR": "1"})
    assert done.returncode == 1
    assert checked(done.stdout)["exit"] == 1


def test_the_page_is_written(rldebug, sick):
    said = rldebug("report", "sick", "--html", "page.html")
    assert said.status == 1
    assert "ENT001" in Path("page.html").read_text(encoding="utf-8")


def test_the_run_written_to_last_is_meant_where_none_is_named(rldebug):
    for age, (name, numbers) in enumerate({"new": COLLAPSED, "old": SOUND}.items()):
        folder = write_run(Path(".rldebug/runs") / name, numbers)
        for file in folder.iterdir():
            os.utime(file, (1e9 - age, 1e9 - age))
    assert "ENT001" in rldebug("report").out


def test_nothing_to_report_on(rldebug):
    said = rldebug("report")
    assert said.status == 2
    assert said.err.startswith("rldebug: no runs under .rldebug")


def test_no_colour_where_none_is_wanted(rldebug, sick, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;31m" in rldebug("report").out or "\x1b[1;33m" in rldebug("report").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;3" not in rldebug("report").out


# ── run folders that are not as the recorder wrote them ─────────────────────────────────────────────────────────────


def test_missing(rldebug, sick):
    said = rldebug("report", "sik")
    assert said.status == 2
    assert "no run called sik" in said.err
    assert "did you mean sick?" in said.err


def test_not_a_folder(rldebug):
    Path("file").touch()
    said = rldebug("report", "file")
    assert said.status == 2
    assert "file is not a run folder" in said.err


def test_some_other_folder(rldebug, tmp_path):
    said = rldebug("report", tmp_path)
    assert said.status == 2
    assert "has no run.json" in said.err


def test_a_truncated_last_line_is_named(rldebug, sick):
    file = sick / "readings.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    said = rldebug("report", "sick")
    assert said.status == 1
    assert "readings.jsonl line 63 was left out: the last line was cut off in writing" in said.out


def test_a_hand_edited_line_is_named(rldebug, sick):
    file = sick / "readings.jsonl"
    lines = file.read_text(encoding="utf-8").split("\n")
    lines[4] = lines[4].replace('"update"', '"updte"')
    lines[9] = "oops"
    file.write_text("\n".join(lines), encoding="utf-8")
    said = rldebug("report", "sick")
    assert said.status == 1
    assert "readings.jsonl line 5 was left out" in said.out
    assert "readings.jsonl line 10 was left out" in said.out


def test_a_newer_format(rldebug):
    write_run(Path("future"), COLLAPSED, format=99)
    said = rldebug("report", "future")
    assert said.status == 2
    assert "format 99" in said.err
    assert "upgrade" in said.err


@pytest.mark.parametrize("junk", [b"", b"\x00\xff\xfe" * 400 + b"\n" + b"\x80" * 50, b"\n".join([b"\xff junk"] * 1000)])
def test_binary_junk_holds_no_readings(rldebug, sick, junk):
    (sick / "readings.jsonl").write_bytes(junk)
    said = rldebug("report", "sick")
    assert said.status == 2
    assert "holds no readings" in said.err
    assert len(said.err) < 1000


def test_a_damaged_run_json_is_said(rldebug, sick):
    (sick / "run.json").write_bytes(b"\xff{")
    said = rldebug("report", "sick")
    assert said.status == 1
    assert "run.json cannot be read" in " ".join(said.out.split())


def test_a_page_that_cannot_be_written(rldebug, sick):
    said = rldebug("report", "sick", "--html", "no/such/folder/page.html")
    assert said.status == 2
    assert "no/such/folder/page.html: No such file or directory" in said.err


def test_a_configuration_that_asks_for_nonsense(rldebug, sick):
    Path("pyproject.toml").write_text('[tool.rldebug]\nignore = ["entropy-colapse"]\n', encoding="utf-8")
    said = rldebug("report", "sick")
    assert said.status == 2
    assert "did you mean entropy-collapse" in said.err


def test_an_ignored_rule_stays_out(rldebug, sick):
    Path("pyproject.toml").write_text('[tool.rldebug]\nselect = ["ENT001"]\nignore = ["entropy-collapse"]\n')
    assert rldebug("report", "sick").status == 0


def test_rules_are_chosen_on_the_command_line(rldebug, sick):
    assert rldebug("report", sick, "--ignore", "entropy-collapse").status == 0
    assert rldebug("report", sick, "--select", "ENT002").status == 0
    assert rldebug("report", sick, "--select", "ENT001").status == 1
    said = rldebug("report", sick, "--ignore", "entropy-colapse")
    assert said.status == 2
    assert "--ignore" in said.err


def test_what_broke_while_recording_is_told(rldebug):
    write_run(Path("r"), SOUND, broken={"grad/norm": "Traceback …\nValueError: nothing there"})
    said = rldebug("report", "r", "--json", "out.json")
    assert "rldebug's own grad/norm failed and was left out: ValueError: nothing there" in " ".join(said.out.split())
    assert "grad/norm" in checked(Path("out.json").read_text(encoding="utf-8"))["broken"]


def test_another_run_is_drawn_over_it(rldebug, sick, sound):
    assert rldebug("report", "sick", "--with", "sound", "--html", "page.html").status == 1
    html = Path("page.html").read_text(encoding="utf-8")
    assert "Where the runs part" in html
    assert '<i class="run-1"></i>sound' in html


def test_another_run_needs_a_page_to_be_drawn_on(rldebug, sick, sound):
    said = rldebug("report", "sick", "--with", "sound")
    assert said.status == 2
    assert "--html" in said.err
