import ast

import pytest

from rldebug.evidence.source import SourceError, parsed, python_files, read_source, read_sources
from rldebug.finding import Finding, Where


def _finding(line: int) -> Finding:
    name = "loads-its-own-weights"
    return Finding("TGT620", name, "target-network", "error", "m", "s", "e", "h", 0.9, Where("f", line))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a = 1", True),
        ("a = 1  # rldebug: ignore", False),
        ("a = 1  # rldebug: ignore[loads-its-own-weights]", False),
        ("a = 1  # rldebug: ignore[TGT620, ENT001]", False),
        ("a = 1  # rldebug: ignore[entropy-collapse]", True),
        ("a = '# rldebug: ignore'", True),
        ("a = 1\n# rldebug: ignore-file[tgt620]", False),
        ("a = 1\n# rldebug: ignore-file", False),
        ("f(1,\n  2)  # rldebug: ignore", False),
    ],
)
def test_a_remark_silences_a_rule(text, wanted):
    assert parsed(text).wants(_finding(1)) is wanted


def test_places_count_characters_from_one():
    source = parsed("π = 'ü'; call(2)")
    call = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Call))
    assert (source.at(call).line, source.at(call).column) == (1, 10)


def test_a_form_feed_does_not_shift_lines():
    source = parsed("a = 1\n\x0c\nb = call(\n 2)\n")
    call = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Call))
    assert source.quoted(call) == "call( 2)"
    assert source.lines[source.at(call).line - 1] == "b = call("


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"def f(:\n", r"bad\.py:1: not valid Python here"),
        (b"x = '\xff'\n", "cannot be read as text"),
        (b"\x00", "cannot be parsed|not valid Python"),
    ],
)
def test_files_that_are_no_programs(tmp_path, raw, says):
    file = tmp_path / "bad.py"
    file.write_bytes(raw)
    with pytest.raises(SourceError, match=says):
        read_source(file)


def test_other_encodings_are_read(tmp_path):
    file = tmp_path / "latin.py"
    file.write_bytes("# -*- coding: latin-1 -*-\nname = 'é'\n".encode("latin-1"))
    assert "é" in read_source(file).text


def test_folders_are_walked_and_environments_left_out(tmp_path):
    hidden = (".hidden/c.py", "mine/pyvenv.cfg", "mine/lib/d.py", "__pycache__/e.py")
    for name in ("a.py", "sub/b.py", *hidden, "notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    assert [file.name for file in python_files([tmp_path])] == ["a.py", "b.py"]
    assert python_files([tmp_path / "notes.txt"]) == [tmp_path / "notes.txt"]
    with pytest.raises(SourceError, match="no such file"):
        python_files([tmp_path / "missing"])


def test_a_run_folder_gives_back_what_it_kept(tmp_path):
    (tmp_path / "sources.jsonl").write_text('{"file": "a.py", "text": "x = 1"}\n{"file": "b.py", "te', encoding="utf-8")
    assert [each.file for each in read_sources(tmp_path)] == ["a.py"]
    assert read_sources(tmp_path / "elsewhere") == []
