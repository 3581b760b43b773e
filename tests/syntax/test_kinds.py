import ast

import pytest

from rldebug.syntax.flow import answer_parts, computed_from
from rldebug.syntax.kinds import kind
from rldebug.syntax.stepping import roles
from tests.syntax.snippets import asked, text

_HEAD = """
import copy
import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical
from torch import optim

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 4)
    def forward(self, x):
        return self.body(x)

class Both(Net):
    def forward(self, x):
        return self.body(x), x.sum()

def build(n):
    return nn.Sequential(nn.Linear(n, n))

net = Net().to("cuda")
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("net  # ask", "module"),
        ("copy.deepcopy(net)  # ask", "module"),
        ("net(torch.zeros(3))  # ask", "tensor"),
        ("Both()(torch.zeros(3))  # ask", ""),
        ("build(3)  # ask", "module"),
        ("opt = optim.Adam(net.parameters())\nopt  # ask", "optimizer"),
        ("e = gym.wrappers.FrameStack(gym.make('a'))\ne  # ask", "env"),
        ("envs = gym.vector.SyncVectorEnv([])\nenvs  # ask", "vector-env"),
        ("d = Categorical(logits=net(x))\nd  # ask", "distribution"),
        ("d = Categorical(logits=net(x))\nd.log_prob(a)  # ask", "tensor"),
        ("loss = F.mse_loss(a, b)\n(2 * loss).mean()  # ask", "tensor"),
        ("net(x).detach().cpu().numpy()  # ask", "array"),
        ("np.zeros(3)[0]  # ask", "array"),
        ("def f(x: torch.Tensor):\n    x  # ask", "tensor"),
        ("def f(m):\n    m  # ask\nf(net)", "module"),
        ("class A:\n    def __init__(self, n, m):\n        m  # ask\nA(3, net)", "module"),
        ("class Own(Net):\n    def draw(this, x):\n        this(x)  # ask", "tensor"),
        ("unknown  # ask", ""),
    ],
)
def test_kinds(code: str, expected: str) -> None:
    source = text(_HEAD + code)
    assert kind(source, asked(source)) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("o, r, d, t, i = env.step(a)\nr  # ask", {"reward"}),
        ("o, r, d, i = env.step(a)\nd  # ask", {"done"}),
        ("o, i = env.reset()\nwhile c:\n    o  # ask\n    n, r, d, t, i = env.step(a)\n    o = n", {"observation"}),
        ("o, r, d, t, i = env.step(a)\nx = f(r)\nx  # ask", set()),
    ],
)
def test_roles_of_what_a_step_gives(code: str, expected: set[str]) -> None:
    source = text("import gymnasium\nenv = gymnasium.make('x')\n" + code)
    assert roles(source, asked(source)) == expected


@pytest.mark.parametrize(
    ("code", "reaches"),
    [
        ("q = net(s)\ny = r + g * q\ny  # ask", True),
        ("q = net(s).detach()\ny = r + g * q\ny  # ask", False),
        ("with torch.no_grad():\n    q = net(s)\ny = r + q\ny  # ask", False),
        ("xs = []\nfor s in ss:\n    xs.append(net(s))\ny = torch.stack(xs)\ny  # ask", True),
        ("y = torch.tensor([net(s) for s in ss])\ny  # ask", False),
        ("x = y * 2\nx  # ask\nx = []\nx.append(net(s))", False),
        ("def f(s):\n    return net(s)\ny = f(s).mean()\ny  # ask", True),
        ("@torch.no_grad()\ndef f(s):\n    return net(s)\ny = f(s).mean()\ny  # ask", False),
    ],
)
def test_where_gradients_come_from(code: str, reaches: bool) -> None:
    source = text(_HEAD + code)
    parts = computed_from(source, asked(source), graph=True)
    assert any(isinstance(each, ast.Call) and ast.unparse(each.func) == "net" for each in parts) is reaches


@pytest.mark.parametrize(
    "code",
    [
        "x = []\nx.append(net(o))\nx = torch.stack(x).detach()\nx  # ask",
        "def f():\n    x = []\n    x.append(net(o))\n    return 1\nx = [0.0]\nx  # ask",
    ],
)
def test_what_was_put_into_another_list_of_that_name_does_not_count(code: str) -> None:
    source = text(_HEAD + code)
    found = computed_from(source, asked(source), graph=True)
    assert "net(o)" not in [ast.unparse(each) for each in found]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def maker(n):\n    def make():\n        return gym.make(n)\n    return make\nmaker('a')()  # ask", "env"),
        ("def run(make):\n    make()  # ask\nrun(lambda: gym.make('a'))", "env"),
        ("tools = {'a': optim.Adam(p), 'b': optim.SGD(p)}\nfor t in tools.values():\n    t  # ask", "optimizer"),
        ("for n, t in (('a', Net()), ('b', Net())):\n    t  # ask", "module"),
        ("for n, t in {'a': Net()}.items():\n    t  # ask", "module"),
        ("for n, t in {'a': Net()}.items():\n    n  # ask", ""),
        ("for t in things:\n    t  # ask", ""),
    ],
)
def test_what_functions_make_and_loops_take_out(code, expected):
    source = text(_HEAD + code)
    assert kind(source, asked(source)) == expected


def test_parts_of_what_a_network_of_this_file_gives():
    source = text(
        _HEAD
        + """
class Two(nn.Module):
    def forward(self, x):
        return torch.tanh(x), Categorical(logits=x)

class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.two = Two()

holder = copy.deepcopy(Holder()).to("cpu")
first, second = holder.two(x)
first  # ask
"""
    )
    assert [ast.unparse(each) for each in answer_parts(source, asked(source))] == ["torch.tanh(x)"]
    asks = next(each for each in ast.walk(source.tree) if isinstance(each, ast.Call) and "two" in ast.dump(each.func))
    assert kind(source, asks.func) == "module"
