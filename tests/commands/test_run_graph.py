"""rldebug run --graph, as a user calls it."""

import json
import subprocess
import sys

import pytest

from rldebug.commands.run import OptionError, _picture

PROGRAM = """
import torch
from torch import nn
torch.manual_seed(0)
actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()])
for update in range(12):
    obs = torch.randn(8, 4)
    value = critic(obs).squeeze(-1)
    advantage = torch.randn(8) - value
    policy_loss = -(actor(obs).log_softmax(-1)[:, 0] * advantage.detach()).mean()
    value_loss = advantage.pow(2).mean()
    loss = policy_loss + value_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_the_graph_of_a_program_is_drawn(tmp_path):
    (tmp_path / "train.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "rldebug", "run", "--graph", "graph.svg", "--json", "report.json", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "graph: graph.svg" in done.stderr
    picture = (tmp_path / "graph.svg").read_text(encoding="utf-8")
    assert ">actor<" in picture
    assert ">critic<" in picture
    report = json.loads((tmp_path / "report.json").read_text())
    assert {"GRA800", "OPT800"} <= set(report["checked"])
    assert not {each["code"] for each in report["findings"]} & {"GRA800", "GRA802", "OPT800", "OPT801"}
    assert report["broken"] == {}


def test_only_svg_can_be_asked_for(tmp_path, monkeypatch):
    with pytest.raises(OptionError, match=r"ends in \.svg"):
        _picture(tmp_path / "graph.png")
    monkeypatch.setattr("rldebug.commands.run.find_spec", lambda name: None)
    with pytest.raises(OptionError, match=r"rldebug\[graph\]"):
        _picture(tmp_path / "graph.svg")
    assert _picture(None) is None
