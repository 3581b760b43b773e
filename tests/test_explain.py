"""rldebug.explain: the exception stays what it was, and says what it means."""

from __future__ import annotations

import atexit
import gc
import sys
import threading
import traceback
import weakref

import pytest
import torch
from torch import nn

import rldebug
from rldebug.evidence.crashes.text import NOTE
from rldebug.explain import attach, explained, install_in

MODULE = sys.modules["rldebug.explain"]  # rldebug.explain is the function


def graph_twice():
    loss = nn.Linear(3, 1)(torch.zeros(1, 3)).mean()
    loss.backward()
    loss.backward()


def unknown():
    weights = torch.tensor([1.0, float("nan")])
    steps = torch.zeros(4, 2, dtype=torch.int64)
    raise ValueError(f"the moon is in the wrong phase: {len(weights)} {len(steps)}")


def notes_of(error):
    return list(getattr(error, "__notes__", ()))


def raised(program):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        program()
    return caught.value


def inside(program):
    def call():
        with rldebug.explain():
            program()

    return raised(call)


# ── what is said ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_note_names_rule_line_and_help():
    error = inside(graph_twice)
    assert isinstance(error, RuntimeError)
    (note,) = notes_of(error)
    lines = note.splitlines()
    assert lines[0] == ""  # a little air below the message
    assert lines[1].startswith("rldebug: error[GRA401] ")
    assert lines[2].startswith("  where     ")
    assert "test_explain.py:" in lines[2]
    assert "loss.backward()" in note
    assert "  help      " in note
    assert "  more      rldebug explain GRA401" in note
    assert "Trying to backward" not in note  # it stands right above
    assert all(len(line) <= 100 for line in lines[3:])


def test_an_error_that_nobody_knows_shows_the_tensors():
    (note,) = notes_of(inside(unknown))
    assert "an error that no rule knows ended the program" in note
    rows = [line.split() for line in note.splitlines()]
    assert ["tensors", "name", "shape", "dtype", "device", "grad", "finite"] in rows
    assert ["weights", "(2,)", "float32", "cpu", "no", "NaN"] in rows
    assert ["steps", "(4,", "2)", "int64", "cpu", "no", "yes"] in rows
    assert "rldebug explain" not in note  # its page would say no more


def test_many_tensors_are_counted():
    def program():
        a = b = c = d = e = f = g = h = i = j = k = l = m = n = torch.zeros(2)  # noqa: E741
        raise ValueError("over", len((a, b, c, d, e, f, g, h, i, j, k, l, m, n)))

    (note,) = notes_of(inside(program))
    assert "and 2 more" in note


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(2), rldebug.HandoverError("ours")])
def test_what_is_no_mistake_of_the_program_is_left_alone(error):
    def program():
        raise error

    with pytest.raises(type(error)) as caught, rldebug.explain():
        program()
    assert caught.value is error
    assert not notes_of(error)


# ── what it leaves as it is ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_exception_is_the_same_and_its_traceback_too():
    mine = ValueError("mine")

    def program():
        raise mine

    plain, told = raised(program), None
    before = [frame.name for frame in traceback.extract_tb(plain.__traceback__)]
    mine.__traceback__ = None
    told = inside(program)
    assert told is mine
    after = [frame.name for frame in traceback.extract_tb(told.__traceback__)]
    assert after == [*before[:-1], "call", before[-1]]  # the function that holds the `with`, and nothing of ours


def test_it_is_said_once():
    def nested():
        with rldebug.explain(), rldebug.explain():
            rldebug.explain()(graph_twice)()

    error = inside(nested)
    assert len(notes_of(error)) == 1
    assert attach(error) == ""
    assert explained(error)


def test_other_notes_stay():
    def program():
        error = ValueError("mine")
        error.__notes__ = ["a note of theirs"]
        raise error

    notes = notes_of(inside(program))
    assert notes[0] == "a note of theirs"
    assert notes[1].lstrip().startswith(NOTE)


def test_no_frame_is_kept_alive():
    kept = []

    def program():
        tensor = torch.zeros(3)
        kept.append(weakref.ref(tensor))
        raise ValueError("over")

    try:
        with rldebug.explain():
            program()
    except ValueError:
        pass
    gc.collect()
    assert kept[0]() is None


def test_the_decorator_keeps_name_and_result():
    @rldebug.explain()
    def add(a, *, b):
        """Adds."""
        return a + b

    assert add(1, b=2) == 3
    assert (add.__name__, add.__doc__) == ("add", "Adds.")
    assert notes_of(raised(lambda: add(torch.zeros(2), b=torch.zeros(3))))


def test_explaining_that_fails_changes_nothing(monkeypatch):
    def broken(*given, **more):
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(MODULE, "judge", broken)
    error = inside(graph_twice)
    assert "backward through the graph" in str(error)
    assert not notes_of(error)


def test_python_without_notes_is_told_on_stderr(monkeypatch, capsys):
    monkeypatch.setattr(MODULE, "_SHOWS_NOTES", False)
    inside(graph_twice)
    assert "rldebug: error[GRA401]" in capsys.readouterr().err


# ── for a whole session ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)
    monkeypatch.setattr(MODULE, "_shell", lambda: None)
    rldebug.explain().install()
    rldebug.explain().install()


def test_what_nobody_catches_is_explained(installed, capsys):
    error = raised(graph_twice)
    sys.excepthook(type(error), error, error.__traceback__)
    said = capsys.readouterr().err
    assert said.startswith("Traceback (most recent call last):")
    assert said.count("rldebug: error[GRA401]") == 1


def test_a_thread_is_explained_too(installed, capsys):
    thread = threading.Thread(target=graph_twice)
    thread.start()
    thread.join()
    assert capsys.readouterr().err.count("rldebug: error[GRA401]") == 1


@pytest.fixture
def shell(monkeypatch, tmp_path):
    from IPython.core import interactiveshell as interactive

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # the shell puts one of its own there
    shell = interactive.InteractiveShell()
    monkeypatch.setattr(MODULE, "_shell", lambda: shell)
    shell.run_cell("%colors nocolor")
    yield shell
    atexit.unregister(shell.atexit_operations)
    shell.atexit_operations()
    interactive.InteractiveShell.clear_instance()


def test_every_later_cell_is_explained(shell, capsys):
    shell.run_cell("%load_ext rldebug")
    shell.run_cell("import torch\nloss = torch.nn.Linear(3, 1)(torch.zeros(1, 3)).mean()\nloss.backward()")
    capsys.readouterr()
    for _ in range(2):
        shell.run_cell("x = 1\nloss.backward()")
        said = capsys.readouterr()
        text = said.out + said.err
        assert text.count("rldebug: error[GRA401]") == 1
        assert text.index("Trying to backward") < text.index("rldebug: error")
        assert "where     In[" in text
        assert "]:2   loss.backward()" in text
    shell.run_cell("1 +")
    assert "rldebug" not in capsys.readouterr().out  # IPython itself says where it is no Python


def test_a_shell_is_hooked_once(shell, capsys):
    install_in(shell)
    hooked = shell.showtraceback
    rldebug.explain().install()
    assert shell.showtraceback is hooked
    assert sys.excepthook is sys.__excepthook__ or not hasattr(sys.excepthook, "explains")
