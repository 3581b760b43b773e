"""Small programs given as text: they are run, and their text is what is read of them in the end."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from rldebug.capture import arguments

TRAIN = """
import torch

net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)


def train(*settings):
    for _ in range(3):
        loss = net(torch.ones(4, 2)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def program_of(source: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """The program, after a few lines that make `train` and `opt`."""
    text = TRAIN + textwrap.dedent(source)
    monkeypatch.setattr(arguments, "user_sources", lambda: {"train.py": text})
    names: dict[str, Any] = {"__name__": "train"}
    return lambda: exec(compile(text, "train.py", "exec"), names)
