import json

import pytest

from rldebug.dashboard.written import counted, read_findings
from rldebug.finding import Finding

FOUND = Finding("ACT001", "some-fault", "action-sampling", "error", "it is wrong", "this", "that", "do so", 0.9)


def test_what_was_found_at_the_end_is_read_back_once(tmp_path):
    line = json.dumps(FOUND.to_dict()) + "\n"
    (tmp_path / "findings.jsonl").write_text(line * 2)
    report = read_findings(tmp_path)
    assert report.findings == (FOUND,)
    assert counted(report) == {"errors": 1, "warnings": 0, "notes": 0}


def test_a_clean_run_has_an_empty_file(tmp_path):
    (tmp_path / "findings.jsonl").touch()
    assert counted(read_findings(tmp_path)) == {"errors": 0, "warnings": 0, "notes": 0}


@pytest.mark.parametrize("text", ["{", "7\n", '{"code": "X"}\n', json.dumps({**FOUND.to_dict(), "severity": "dire"})])
def test_what_somebody_has_tampered_with_is_nothing(tmp_path, text):
    (tmp_path / "findings.jsonl").write_text(text)
    assert read_findings(tmp_path) is None


def test_no_file_no_findings(tmp_path):
    assert read_findings(tmp_path) is None
    (tmp_path / "findings.jsonl").symlink_to("/dev/zero")
    assert read_findings(tmp_path) is None
