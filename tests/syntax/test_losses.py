import ast

import pytest

from rldebug.syntax.losses import minimised
from tests.syntax.snippets import text

_HEAD = """
import torch
import torch.nn as nn
from torch.distributions import Categorical

net = nn.Linear(4, 2)
"""


def _told(code: str) -> list[tuple[str, str, list[str]]]:
    """Sign, leaf and weights of every term."""
    [(_, terms)] = minimised(text(_HEAD + code))
    return sorted(
        ("+" if each.sign > 0 else "-", ast.unparse(each.leaf), [ast.unparse(one) for one in each.weights])
        for each in terms
    )


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(
            "dist = Categorical(logits=net(x))\nloss = -(dist.log_prob(a) * adv).mean()\nloss.backward()",
            [("-", "dist.log_prob(a)", ["adv"])],
            id="a weighted score",
        ),
        pytest.param(
            "dist = Categorical(logits=net(x))\npg = (dist.log_prob(a) * -adv).mean()\nent = dist.entropy().mean()\n"
            "loss = pg - 0.01 * ent\nloss.backward()",
            [("-", "dist.entropy()", ["0.01"]), ("-", "dist.log_prob(a)", ["adv"])],
            id="signs of weights and of coefficients",
        ),
        pytest.param(
            "loss = 0\nloss += net(x).sum()\nloss -= net(y).sum()\nloss.backward()",
            [("+", "0", []), ("+", "net(x)", []), ("-", "net(y)", [])],
            id="added up in place",
        ),
        pytest.param(
            "kept, losses = [], []\nfor o in rows:\n    kept.append(Categorical(logits=net(o)).log_prob(a))\n"
            "for logp, g in zip(kept, returns):\n    losses.append(-logp * g)\ntorch.stack(losses).sum().backward()",
            [("-", "Categorical(logits=net(o)).log_prob(a)", ["g"])],
            id="through lists that are filled",
        ),
        pytest.param(
            "def act(o):\n    d = Categorical(logits=net(o))\n    return d.log_prob(a), d.entropy()\n"
            "logp, ent = act(x)\nloss = -(logp * w).mean() - ent.mean()\nloss.backward()",
            [("-", "d.entropy()", []), ("-", "d.log_prob(a)", ["w"])],
            id="through functions of the file",
        ),
    ],
)
def test_the_terms_of_a_loss(code, expected):
    assert _told(code) == expected


def test_nothing_is_minimised_where_the_optimizer_climbs():
    assert not minimised(text("opt = SGD(p, maximize=True)\nloss.backward()"))
