"""rldebug explain, given a traceback."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import jsonschema
import pytest

from rldebug.render.json import schema

TEXT = """Traceback (most recent call last):
  File "/home/me/train.py", line 9, in <module>
    update()
  File "/home/me/train.py", line 6, in update
    loss.backward()
  File "/venv/lib/python3.12/site-packages/torch/_tensor.py", line 623, in backward
    torch.autograd.backward(
RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors)
"""
UNKNOWN = (
    'Traceback (most recent call last):\n  File "/home/me/train.py", line 9, in <module>\n    f()\nOddError: odd\n'
)


@pytest.fixture
def piped(monkeypatch):
    def pipe(text, *, tty=False):
        stdin = io.TextIOWrapper(io.BytesIO(text if isinstance(text, bytes) else text.encode()))
        stdin.isatty = lambda: tty
        monkeypatch.setattr(sys, "stdin", stdin)

    return pipe


def test_from_a_file(rldebug):
    Path("log.txt").write_text(TEXT, encoding="utf-8")
    said = rldebug("explain", "log.txt")
    assert said.status == 1
    assert said.out.startswith("rldebug: error[GRA401] ")
    assert "  where     /home/me/train.py:6   loss.backward()\n" in said.out
    assert "  seen      RuntimeError: Trying to backward" in said.out
    assert "`rldebug run train.py` also shows" in " ".join(said.out.split())
    assert "\x1b" not in said.out


@pytest.mark.parametrize("words", [(), ("-",)])
def test_from_stdin(rldebug, piped, words):
    piped(TEXT)
    said = rldebug("explain", *words)
    assert (said.status, said.err) == (1, "")
    assert "error[GRA401]" in said.out


def test_at_a_terminal_it_asks_for_the_text(rldebug, piped):
    piped(TEXT, tty=True)
    said = rldebug("explain")
    assert "paste the traceback" in said.err
    assert "error[GRA401]" in said.out


def test_a_message_alone_is_enough_where_a_rule_knows_it(rldebug, piped):
    for text in (TEXT.splitlines()[-1], TEXT.splitlines()[-1].partition(": ")[2]):
        piped(text)
        assert "error[GRA401]" in rldebug("explain").out


def test_an_error_that_nobody_knows_is_said_to_be_one(rldebug, piped):
    piped(UNKNOWN)
    said = rldebug("explain")
    assert said.status == 1
    assert "an error that no rule knows ended the program" in said.out
    assert "OddError: odd" in said.out
    assert "before anything had begun" not in said.out  # which a text does not tell


def test_warnings_are_explained_as_what_the_program_survived(rldebug, piped):
    piped(
        "/home/me/train.py:5: UserWarning: Implicit dimension choice for softmax has been deprecated. "
        "Change the call to include dim=X as an argument.\n  p = F.softmax(x)\n"
    )
    said = rldebug("explain")
    assert said.status == 1
    assert said.out.startswith("rldebug: note[")
    assert "the program went on" in " ".join(said.out.split())


def test_a_notebook_is_told_how_to_learn_more(rldebug, piped):
    piped(
        "KeyError      Traceback (most recent call last)\nCell In[3], line 2\n      1 x = 1\n----> 2 batch['obs']\n\n"
        "KeyError: 'obs'\n"
    )
    said = rldebug("explain")
    assert "%load_ext rldebug" in said.out
    assert "where     In[3]:2   batch['obs']" in said.out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello\n", "no error was recognised in the text; expected a traceback"),
        ("", "there is no text to explain"),
        (b"\xff\xfe\x00", "no error was recognised"),
        ("/home/me/a.py:4: UserWarning: careful\n", "no rule knows UserWarning: careful"),
    ],
)
def test_nothing_to_explain_is_said(rldebug, piped, text, words):
    piped(text)
    said = rldebug("explain")
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith("rldebug: ")
    assert words in said.err


def test_as_json(rldebug, piped):
    piped(TEXT)
    said = rldebug("explain", "--json", "-")
    report = json.loads(said.out)
    jsonschema.validate(report, schema(), cls=jsonschema.Draft202012Validator)
    assert (report["command"], report["exit"]) == ("explain", 1)
    assert [each["code"] for each in report["findings"]] == ["GRA401"]
    piped(TEXT)
    assert "error[GRA401]" in rldebug("explain", "--json", "out.json").out
    assert json.loads(Path("out.json").read_text(encoding="utf-8")) == report


def test_pages_are_printed_as_before(rldebug):
    assert "GRA401 backward-twice" in rldebug("explain", "GRA401").out
