import os
import sys
import time
from pathlib import Path

import pytest

from rldebug.evidence.machines.child import Attempt, attempt_in_child, try_all
from rldebug.evidence.machines.look import look
from rldebug.evidence.machines.trials import IMPORTS, attempts, backends


def tried(code, **more):
    return attempt_in_child(Attempt("it", code, **more))


def gone(process):
    """It has ended, though whoever is its parent now may not have noticed yet."""
    try:
        os.kill(process, 0)
        told = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except (ProcessLookupError, FileNotFoundError):
        return True
    return told.rpartition(")")[2].split()[0] == "Z"


def test_facts_are_handed_over():
    trial = tried('at("counting")\ntell(count=3)\nprint("hello")', variables={"RLDEBUG_TOLD": "1"})
    assert (trial.outcome, trial.stage, trial.facts, trial.heard) == ("ok", "", {"count": 3}, "hello")


def test_an_exception_is_told_with_its_stage():
    trial = tried('at("counting")\nraise ValueError("two\\nlines")')
    assert trial.outcome == "error"
    assert trial.ending == "counting: ValueError: two lines"


@pytest.mark.skipif(os.name == "nt", reason="there are no signals")
def test_a_process_that_dies_leaves_what_it_told():
    trial = tried('at("counting")\ntell(count=3)\nimport os\nos.kill(os.getpid(), 11)')
    assert trial.outcome == "died"
    assert trial.ending == "counting: ended by SIGSEGV"
    assert trial.facts == {"count": 3}


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc whether a process has ended")
def test_one_that_hangs_is_ended_with_all_that_it_started():
    began = time.monotonic()
    trial = tried(
        'import os, time\nchild = os.fork()\nif child:\n    tell(child=child)\n    at("waiting")\ntime.sleep(60)',
        seconds=1.0,
    )
    assert time.monotonic() - began < 10
    assert (trial.outcome, trial.ending) == ("hung", "waiting: did not end within 1 s")
    until = time.monotonic() + 5
    while not gone(trial.facts["child"]) and time.monotonic() < until:
        time.sleep(0.02)
    assert gone(trial.facts["child"])


def test_a_file_of_the_current_folder_is_not_imported():
    Path("colorsys.py").write_text("raise SystemError('the wrong one')", encoding="utf-8")
    assert tried("import colorsys").outcome == "ok"


def test_all_are_tried_in_their_order():
    heard = []
    trials = try_all([Attempt(name, "import time; time.sleep(0.1)") for name in "abc"], 3, heard.append)
    assert [each.name for each in trials] == ["a", "b", "c"]
    assert sorted(heard) == ["a", "b", "c"]


def test_an_import_that_fails_does_not_keep_the_others():
    trial = tried(IMPORTS, arguments=("json", "no_such_module", "csv"))
    assert trial.facts["import json"] == trial.facts["import csv"] == ""
    assert trial.facts["import no_such_module"] == "ModuleNotFoundError: No module named 'no_such_module'"


def test_a_package_that_is_developed_here_hides_nothing(monkeypatch):
    import rldebug.evidence.machines.look as module

    for folder in ("rldebug_mine", "csv"):
        Path(folder).mkdir()
        Path(folder, "__init__.py").write_text("", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*sys.path, str(Path.cwd())]))
    planned = [Attempt("imports", IMPORTS, arguments=("csv", "rldebug_mine"))]
    monkeypatch.setattr(module, "attempts", lambda installed: planned)
    machine = look()
    assert machine.imports == {"csv": "", "rldebug_mine": ""}
    assert machine.hiding == (f"csv{os.sep}",)


def test_only_what_is_installed_is_tried():
    assert attempts([]) == []
    names = [each.name for each in attempts(["torch", "gymnasium", "mujoco", "ale-py", "wandb"])]
    assert names[0] == "torch"
    assert {"imports", "atari", "mujoco", *(f"mujoco {each}" for each in backends())} <= set(names)
    assert "imports on torch" not in names


@pytest.mark.skipif(os.name == "nt", reason="there are no signals")
def test_after_an_import_that_ends_the_process_the_others_are_tried_alone(monkeypatch):
    import rldebug.evidence.machines.look as module

    Path("site").mkdir()
    Path("site/rldebug_deadly.py").write_text("import os; os.abort()", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path("site").resolve()), *sys.path]))
    planned = [Attempt("imports", IMPORTS, arguments=("json", "rldebug_deadly", "csv", "no_such_module"))]
    monkeypatch.setattr(module, "attempts", lambda installed: planned)
    machine = look()
    assert machine.imports == {
        "json": "",
        "rldebug_deadly": "ended by SIGABRT",
        "csv": "",
        "no_such_module": "ModuleNotFoundError: No module named 'no_such_module'",
    }
    assert machine.torch is None
    assert machine.trials == ()
