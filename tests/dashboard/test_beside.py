import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from rldebug.config import Config
from rldebug.dashboard.beside import left
from rldebug.render.companion import CompanionError, open_dashboard
from rldebug.run import Watched
from rldebug.wishes import Wishes

from .conftest import write_run


def test_it_stays_with_the_program_and_with_who_looks():
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    alone, looked_at = SimpleNamespace(pages=0, left=0.0), SimpleNamespace(pages=1, left=0.0)
    assert not left(os.getpid(), 0.0)(alone)
    assert not left(ended.pid, 0.0)(looked_at)
    until = left(ended.pid, 0.0)
    until(alone)
    time.sleep(0.01)
    assert until(alone)
    assert not left(ended.pid, 60.0)(alone)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_program_gets_no_child(root):
    """It would meet it in os.wait()."""
    code = (
        "import os, sys; from pathlib import Path; from rldebug.render.companion import open_dashboard\n"
        "print(open_dashboard(Path(sys.argv[1])), flush=True)\n"
        "try: os.waitpid(-1, os.WNOHANG); print('a child')\n"
        "except ChildProcessError: print('no child', flush=True)\n"
        "sys.stdin.read()"
    )
    folder = write_run(root / "a")
    words = [sys.executable, "-c", code, str(folder.absolute())]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip()
        assert process.stdout.readline() == "no child\n"
        with httpx.Client(follow_redirects=True, trust_env=False, timeout=20) as client:
            assert '"id": "a"' in client.get(url).text
        process.stdin.close()
    # The server itself leaves a minute later: nobody looks.


def test_what_cannot_be_started_is_said_in_a_line(root, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(CompanionError, match="nowhere"):
        open_dashboard(root / "a")


def refuse(folder):
    raise CompanionError("there is no room")


@pytest.mark.parametrize(
    ("rank", "opened", "said"),
    [
        ("0", lambda folder: "http://127.0.0.1:1/", "rldebug: dashboard: http://127.0.0.1:1/\n"),
        ("0", refuse, "rldebug: no dashboard: there is no room\n"),
        ("1", refuse, ""),  # the first rank's shows them all
    ],
)
def test_a_run_says_where_it_is_or_why_not(monkeypatch, capsys, rank, opened, said):
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setattr("rldebug.render.companion.open_dashboard", opened)
    watched = Watched(Wishes(program=("train.py",), dashboard=True, quiet=True), Config())
    watched.folder = Path("train")
    watched._open_dashboard()
    assert capsys.readouterr().err == said
