"""The line that made each node of a graph, without a change to the graph."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch
from torch import nn

from rldebug.evidence.crash import Crash, crash_of
from rldebug.evidence.crashes import creation_sites
from rldebug.evidence.crashes.creation_sites import CreationSites, site_of
from rldebug.rules.autograd_graph.backward_twice import BackwardTwice
from tests.judge import fires

pytestmark = pytest.mark.skipif(sys.gettrace() is not None, reason="the program is traced by somebody else")


@pytest.fixture
def sites():
    kept = CreationSites()
    assert kept.install()
    yield kept
    kept.forget()
    assert sys.gettrace() is None


def line_of(mark: str) -> int:
    with open(__file__, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if line.rstrip().endswith(f"# {mark}"))


def squashed(x):
    return x.tanh()  # in a function


def test_each_node_is_the_work_of_its_line(sites):
    net = nn.Linear(4, 2)
    out = net(torch.ones(3, 4))  # forward
    both = squashed(out) + out.exp()  # after a function
    loss = both.mean()  # loss
    node = loss.grad_fn
    add = node.next_functions[0][0]
    tanh, exp = (each for each, _ in add.next_functions)
    addmm = tanh.next_functions[0][0]
    told = {each.name(): site_of(each) for each in (node, add, tanh, exp, addmm)}
    assert {name: site[1] for name, site in told.items()} == {
        "MeanBackward0": line_of("loss"),
        "AddBackward0": line_of("after a function"),
        "ExpBackward0": line_of("after a function"),
        "TanhBackward0": line_of("in a function"),
        "AddmmBackward0": line_of("forward"),
    }
    assert told["TanhBackward0"][0] == __file__


def test_what_was_made_before_or_after_has_no_line():
    before = torch.ones(2, requires_grad=True).exp()
    kept = CreationSites()
    assert kept.install()
    torch.ones(2, requires_grad=True).exp()
    kept.uninstall()
    after = torch.ones(2, requires_grad=True).exp()
    assert site_of(before.grad_fn) is None
    assert site_of(after.grad_fn) is None
    kept.forget()


def test_a_debugger_keeps_its_place():
    def debugger(frame, event, arg):
        return None

    sys.settrace(debugger)
    try:
        assert not CreationSites().install()
        assert sys.gettrace() is debugger
    finally:
        sys.settrace(None)


def test_old_lines_are_forgotten(sites, monkeypatch):
    monkeypatch.setattr(creation_sites, "_MOST", 20)
    first = torch.ones(2, requires_grad=True).exp()
    x = first
    for _ in range(100):
        x = x.exp()
    assert site_of(first.grad_fn) is None
    assert site_of(x.grad_fn) is not None
    assert len(sites._ends) <= 20


def test_the_line_is_exact_where_the_text_cannot_tell(sites):
    """Made by a function that is called by its place in a table, kept in an object that the frames do not name."""

    class Hidden:
        __slots__ = ("it",)

    def first(net):
        return net(torch.ones(3, 4)).tanh()  # the maker

    keep = Hidden()
    keep.it = [first][0](nn.Linear(4, 2))
    try:
        for _ in range(2):
            loss = keep.it.square().sum()
            loss.backward()
    except RuntimeError as error:
        crash = crash_of(error)
    finding = fires(BackwardTwice(), Crash.from_dict(json.loads(json.dumps(crash.to_dict()))))
    assert finding.where.line == line_of("the maker")


def test_rldebug_run_keeps_them(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import torch\n"
        "class Slot:\n    __slots__ = ('it',)\n"
        "net, slot = torch.nn.Linear(4, 2), Slot()\n"
        "slot.it = net(torch.ones(3, 4)).tanh()\n"
        "for _ in range(2):\n    slot.it.square().sum().backward()\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "rldebug", "run", "--creation-sites", "--json", "r.json", script.name],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    findings = json.loads((tmp_path / "r.json").read_text())["findings"]
    told = {each["code"]: each["where"]["line"] for each in findings}
    assert told["GRA401"] == 5
