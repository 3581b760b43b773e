"""A program that is launched sees, says and leaves what it does under `python`; `end` is called once, at its end."""

from __future__ import annotations

import importlib
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rldebug import launch
from rldebug.target import TargetError

PROGRAMS = Path(__file__).parent / "run_programs"
ENDED = "and so it ended: "
# Nothing of rldebug but this module: each start takes a tenth of a second.
DRIVER = f"""
import sys
from rldebug.launch import Ending, check, run_to_its_end, show

def ended(how):
    print({ENDED!r} + repr(how), file=sys.stderr, flush=True)

def came_out(error):
    if not isinstance(error, SystemExit):
        show(error)
    return 1

program = sys.argv[1:]
check(program)
ending = Ending(ended)
ending.install()
del sys.path[0]
run_to_its_end(program, ending, came_out)
"""

# What a program with this first argument is told about its end. None: nobody can tell.
WAYS = {
    "nothing": "",
    "status 5": "",
    "status 300": "",
    "message": "",
    "object": "",
    "raise": "",
    "chained": "",
    "group": "",
    "interrupt": "",
    "sigint": "",
    "sigterm": "SIGTERM",
    "sigkill": None,
    "own-handler": "",
    "default-again": "SIGTERM",
    "_exit": "os._exit(7)",
    "exec": f"os.execv({sys.executable})",
    "no-exec": "",
    "fork": "",
    "spawn": "",
    "terminated-child": "",
    "forked-through": "",
    "forked-exit": "",
    "forked-raise": "",
    "forked-_exit": "",
    "order": "",
    "hook": "",
    "broken-hook": "",
    "elsewhere": "",
}


def python(*words, cwd=None, before=()):
    command = [sys.executable, *before, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, input="given", timeout=60, check=False)


def launched(*words, cwd=None):
    return python(*words, cwd=cwd, before=("-c", DRIVER))


@pytest.mark.parametrize("way", WAYS)
def test_it_ends_as_under_python(way):
    words = (PROGRAMS / "endings.py", *way.split())
    alone, ours = python(*words), launched(*words)
    assert (ours.returncode, ours.stdout) == (alone.returncode, alone.stdout)
    # Before our words, in the same order, to the letter: no frame of ours, no child of its that speaks for us.
    rest = f"{ENDED}{WAYS[way]!r}\n" if WAYS[way] is not None else ""
    assert ours.stderr == alone.stderr + rest


@pytest.mark.parametrize(
    ("words", "folder"),
    [
        (("about.py", "--help", "--json", "x"), PROGRAMS),
        (("../run_programs/./about.py",), PROGRAMS),
        ((str(PROGRAMS / "about.py"), "-m", "a"), PROGRAMS.parent),
        (("-m", "about", "-m", "x"), PROGRAMS),
        (("-m", "package", "--help"), PROGRAMS),
        (("-m", "package.nothing"), PROGRAMS),
        (("package", "x"), PROGRAMS),
    ],
)
def test_it_sees_what_it_sees_under_python(words, folder):
    alone, ours = python(*words, cwd=folder), launched(*words, cwd=folder)
    if alone.stdout.startswith("{"):
        assert json.loads(ours.stdout) == json.loads(alone.stdout)
        assert not json.loads(ours.stdout)["heavy"]  # else a thread count that it sets would come too late
    assert (ours.returncode, ours.stdout) == (alone.returncode, alone.stdout)
    assert ours.stderr.startswith(alone.stderr)


def test_a_linked_script_an_archive_and_a_syntax_error(tmp_path):
    (tmp_path / "real").mkdir()
    shutil.copy(PROGRAMS / "about.py", tmp_path / "real" / "about.py")
    (tmp_path / "link.py").symlink_to(tmp_path / "real" / "about.py")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "__main__.py").write_text("import sys; print(__name__, sys.argv, sys.path[0])")
    shutil.make_archive("archive", "zip", tmp_path / "inside")
    (tmp_path / "wrong.py").write_text("def f(:\n")
    (tmp_path / "latin.py").write_bytes("# coding: latin-1\nprint(len('é'))\n".encode("latin-1"))
    for words in (["link.py"], ["archive.zip", "x"], ["wrong.py"], ["latin.py"]):
        alone, ours = python(*words), launched(*words)
        assert (ours.returncode, ours.stdout) == (alone.returncode, alone.stdout)
        assert ours.stderr == f"{alone.stderr}{ENDED}''\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "what is to be run?"),
        (["-m"], "what is to be run?"),
        (["tran.py"], "tran.py: no such file; did you mean train.py?"),
        (["train"], "train: no such file; did you mean train.py?"),
        (["no/train.py"], "no/train.py: no such file: there is no folder no"),
        (["folder"], "folder is a folder without a __main__.py, expected a Python program: it holds a.py, b.py"),
        (["book.ipynb"], "book.ipynb is a notebook"),
        (["go.sh"], "go.sh is no Python program: name the one that it runs"),
        (["binary"], "binary is no Python program, but a binary file"),
        (["-m", "no_such_module_at_all"], "-m no_such_module_at_all: no module of that name"),
        (["-m", "train.py"], "-m train.py: expected the name of a module"),
    ],
)
def test_what_cannot_be_run_is_said(tmp_path, words, said):
    for name in ("train.py", "book.ipynb"):
        (tmp_path / name).touch()
    (tmp_path / "go.sh").write_text("#!/bin/bash\npython train.py\n")
    (tmp_path / "binary").write_bytes(b"\x7fELF\0\0")
    (tmp_path / "folder").mkdir()
    for name in ("b.py", "a.py"):
        (tmp_path / "folder" / name).touch()
    with pytest.raises(TargetError) as error:
        launch.check(words)
    assert said in str(error.value)


def test_what_can_be_run_is_not_refused(tmp_path):
    (tmp_path / "bom.py").write_bytes(b"\xef\xbb\xbfprint(1)\n")
    (tmp_path / "without_suffix").write_text("#!/usr/bin/env python3\nprint(1)\n")
    for words in (["bom.py"], ["without_suffix"], ["-m", "bom"], ["-m", "json.tool"]):
        launch.check(words)


def test_a_run_is_called_after_its_program():
    assert launch.name_of(["a/train_ppo.py", "x"]) == "train_ppo"
    assert launch.name_of(["-m", "package.train"]) == "package.train"
    assert launch.name_of(["-m", "package.__main__"]) == "package"


def test_when_a_module_is_imported(tmp_path, monkeypatch):
    (tmp_path / "awaited.py").write_text("import sys\nsys.awaited_ran = True\nVALUE = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    seen = []
    launch.when_imported("awaited", lambda: seen.append(sys.modules["awaited"].VALUE))
    try:
        import importlib.util

        spec = importlib.util.find_spec("awaited")  # asked for, not imported
        assert spec is not None
        assert not seen
        import awaited  # type: ignore[import-not-found]

        assert seen == [3]  # all of it has run by then
        assert not any(isinstance(each, launch._Awaited) for each in sys.meta_path)
        assert "exec_module" not in vars(awaited.__loader__)
        launch.when_imported("awaited", lambda: seen.append(4))
        assert seen == [3, 4]
    finally:
        sys.meta_path[:] = [each for each in sys.meta_path if not isinstance(each, launch._Awaited)]
        sys.modules.pop("awaited", None)


def functions(error):
    trace, names = error.__traceback__, []
    while trace is not None:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    return names


def test_frames_of_ours_are_cut_wherever_they_are():
    ours = str(Path(launch.__file__).parent / "capture" / "environments.py")
    code = compile("def step(f):\n    f()\n", ours, "exec")
    names: dict = {}
    exec(code, names)

    def fail():
        try:
            raise KeyError("a")
        except KeyError as error:
            raise ValueError("b") from error

    with pytest.raises(ValueError, match="b") as caught:
        names["step"](fail)
    launch.cut(caught.value)
    assert functions(caught.value) == ["test_frames_of_ours_are_cut_wherever_they_are", "fail"]


def test_an_awaited_import_that_fails_looks_as_any_other(tmp_path, monkeypatch):
    (tmp_path / "failing.py").write_text("raise ValueError('no')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    seen = []
    launch.when_imported("failing", lambda: seen.append(1))
    for _ in range(2):  # tried again, it fails again
        with pytest.raises(ValueError, match="no") as caught:
            __import__("failing")
        launch.cut(caught.value)
        assert functions(caught.value) == ["test_an_awaited_import_that_fails_looks_as_any_other", "<module>"]
    # Of another length: what is compiled is told apart by size and second.
    (tmp_path / "failing.py").write_text("VALUE = 'it works now'  # at last\n")
    importlib.invalidate_caches()
    assert __import__("failing").VALUE == "it works now"
    assert seen == [1]
    del sys.modules["failing"]


def test_end_decides_the_status_and_is_called_once(tmp_path):
    driver = DRIVER.replace("flush=True)\n\ndef came", "flush=True)\n    return 3\n\ndef came")
    assert driver != DRIVER
    for way in ("nothing", "status 5", "raise", "_exit"):
        words = (str(PROGRAMS / "endings.py"), *way.split())
        done = python(*words, before=("-c", driver))
        assert done.returncode == 3, way
        assert done.stdout == f"way: {way.split()[0]}\n"
        assert done.stderr.count(ENDED) == 1


@pytest.mark.skipif(not hasattr(signal, "SIGTERM") or sys.platform == "win32", reason="needs signals")
def test_terminated_from_outside_it_dies_by_the_signal(tmp_path):
    (tmp_path / "wait.py").write_text("import time\nprint('up', flush=True)\ntime.sleep(60)\n")
    command = [sys.executable, "-c", DRIVER, "wait.py"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    began = time.monotonic()
    process.terminate()
    _, err = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGTERM
    assert err == f"{ENDED}'SIGTERM'\n"
    assert time.monotonic() - began < 5
