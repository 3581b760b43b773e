"""`%load_ext rldebug`, in a real shell, and in a notebook that a kernel executes."""

from __future__ import annotations

import atexit
import inspect
import os
import sys

import pytest
import torch

from rldebug.capture import session as sessions
from rldebug.finding import Report
from tests.test_attach import Learner

SETUP = "import torch, gymnasium as gym\nfrom torch import nn\nfrom torch.distributions import Categorical\n\n"
LEARNER = SETUP + inspect.getsource(Learner)


@pytest.fixture
def shell(monkeypatch, tmp_path):
    from IPython.core import interactiveshell as interactive

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # the shell puts one of its own there
    shell = interactive.InteractiveShell.instance()
    for cell in ("%colors nocolor", "%load_ext rldebug", LEARNER):
        shell.run_cell(cell).raise_error()
    yield shell
    shell.run_line_magic("unload_ext", "rldebug")
    atexit.unregister(shell.atexit_operations)
    shell.atexit_operations()
    interactive.InteractiveShell.clear_instance()
    assert sessions.current() is None  # nothing is being watched any more


def said(capsys) -> str:
    told = capsys.readouterr()
    return told.out + told.err


def test_a_cell_is_watched_and_its_report_shown(shell, capsys):
    result = shell.run_cell("%%rldebug mine\nlearner = Learner(sign=1.0)\nlearner.learn()\nlearner.seed")
    text = said(capsys)
    assert "error[POL340]: what turned out better is made less likely" in text
    assert "──▶ In[1]:" in text
    assert "program:  actor-critic" in text
    assert result.result == 12  # the value of its last line, as ever
    assert shell.user_ns["learner"].seed == 12
    assert sorted(os.listdir(".rldebug/runs")) == ["mine"]


def test_a_cell_that_fails_is_reported_on_and_stays_failed(shell, capsys):
    result = shell.run_cell("%%rldebug\nLearner().learn(2)\n\n1 / 0")
    text = said(capsys)
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert "notebook.py" not in text  # no frame of ours in the traceback
    assert "----> 4 1 / 0" in text  # the magic is its first line
    assert "──▶ In[1]:4" in text
    assert "<ipython-input" not in text


def test_magics_within_the_cell_and_a_last_line_with_a_semicolon(shell, capsys):
    result = shell.run_cell("%%rldebug\n%pwd\nhere = %pwd\nLearner().learn(1);")
    assert result.result is None
    assert shell.user_ns["here"] == os.getcwd()
    assert "1 optimizer step" in said(capsys)
    kept = shell.run_cell("kept = %rldebug report")
    assert kept.success
    assert isinstance(shell.user_ns["kept"], Report)


def test_all_later_cells_are_watched_until_it_is_closed(shell, capsys):
    shell.run_cell("%rldebug")
    assert "nothing is being watched" in said(capsys)
    shell.run_cell("%rldebug attach two")
    assert "watches every later cell, into .rldebug/runs/two" in said(capsys)
    shell.run_cell("learner = Learner(sign=1.0)\nlearner.learn(6);")
    shell.run_cell("learner.learn(6);")
    shell.run_cell("%rldebug")
    assert "12 updates so far" in said(capsys)
    shell.run_cell("%%rldebug inside\nlearner.learn(1)")
    assert "all cells are being watched already" in said(capsys)
    shell.run_cell("so_far = %rldebug report")
    assert isinstance(shell.user_ns["so_far"], Report)
    report = shell.run_cell("%rldebug close").result
    assert "POL340" in [each.code for each in report.roots]
    assert sorted(os.listdir(".rldebug/runs")) == ["two"]


def test_watching_changes_nothing(shell):
    code = "learner = Learner().learn(4)\nweights, drawn = learner.weights, torch.rand(3)"
    shell.run_cell(code)
    plain = shell.user_ns["weights"], shell.user_ns["drawn"]
    shell.run_cell("%%rldebug\n" + code)
    assert torch.equal(plain[0], shell.user_ns["weights"])
    assert torch.equal(plain[1], shell.user_ns["drawn"])


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("%rldebug close", "nothing is being watched; begin with %rldebug attach"),
        ("%rldebug report", "nothing is being watched"),
        ("%rldebug watch", "%rldebug watch: expected %rldebug attach [NAME]"),
        ("%rldebug attach one two", "expected %rldebug attach [NAME]"),
        ("%%rldebug --html x\n1", "expected at most a name for the run"),
    ],
)
def test_what_cannot_be_understood_is_one_line(shell, capsys, cell, told):
    shell.run_cell(cell)
    text = said(capsys)
    assert text.startswith("UsageError: ")
    assert told in text
    assert text.count("\n") == 1


def test_attaching_twice_is_told(shell, capsys):
    shell.run_cell("%rldebug attach one")
    shell.run_cell("%rldebug attach two")
    assert "one is being watched already; %rldebug close ends it" in said(capsys)
    shell.run_cell("%rldebug close")


def test_unloading_ends_everything(shell, capsys):
    shell.run_cell("%rldebug attach one")
    shell.run_cell("%unload_ext rldebug")
    assert sessions.current() is None
    said(capsys)
    shell.run_cell("%rldebug")
    assert "`%rldebug` not found" in said(capsys)
    shell.run_cell("%load_ext rldebug")


@pytest.mark.integration
def test_a_notebook_of_a_kernel(tmp_path):
    import nbclient
    import nbformat

    cells = [
        "%load_ext rldebug",
        LEARNER,
        "%%rldebug mine\nLearner(sign=1.0).learn();",
        "Learner(sign=torch.tensor([1., 2.])).learn(1)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    with pytest.raises(nbclient.exceptions.CellExecutionError):
        client.execute()
    (shown,) = [each for each in notebook.cells[2].outputs if each.output_type == "display_data"]
    assert "error[POL340]" in shown.data["text/plain"]
    assert "In[3]" not in shown.data["text/plain"]  # the line is in the cell above
    assert '<div class="rldebug-cell">' in shown.data["text/html"]
    assert "In[2]:" in shown.data["text/html"]
    assert "logp = Categorical(" in shown.data["text/html"]  # the lines of the cell
    (failed,) = [each for each in notebook.cells[3].outputs if each.output_type == "error"]
    assert "rldebug: error[" in "\n".join(failed.traceback)
