import json
import os

import pytest
import torch
from torch import nn

import rldebug
from rldebug.handover import HandoverError
from tests.rules.graphs import adam, mlp

OBS = torch.randn(8, 4)


class Learner:
    def __init__(self):
        self.policy = mlp(4, 2)
        self.optimizer = adam(self.policy)

    def draw(self, **given):
        loss = self.policy(OBS).log_softmax(-1)[:, 0].mean()
        return rldebug.graph(loss, **given)


def boxes(drawing, kind="module"):
    return [each.title for each in drawing.graph.boxes if each.kind == kind]


def test_modules_are_found_and_bear_the_callers_names():
    actor, log_alpha = mlp(4, 2), torch.zeros(1, requires_grad=True)
    drawing = rldebug.graph((log_alpha.exp() * actor(OBS)).mean())
    assert boxes(drawing) == ["actor", "log_alpha"]
    assert boxes(Learner().draw()) == ["policy"]


def test_modules_out_of_sight_are_found_by_their_class():
    hidden = {"networks": [mlp(4, 2)]}
    assert boxes(rldebug.graph(hidden["networks"][0](OBS).mean())) == ["Sequential"]


def test_modules_that_only_an_optimizer_holds_are_found_too():
    actor, critic = mlp(4, 2), mlp(4, 1)
    optimizer = adam(actor, critic)
    drawing = rldebug.graph(actor(OBS).mean(), optimizers=optimizer)
    assert set(boxes(drawing)) == {"actor", "critic"}
    assert drawing.graph.optimizers == ("optimizer",)


@pytest.mark.parametrize("wrap", [lambda net: net, lambda net: [net], lambda net: {"net": net}])
def test_modules_may_be_one_several_or_named(wrap):
    net = mlp(4, 2)
    assert boxes(rldebug.graph(net(OBS).mean(), wrap(net))) == ["net"]


def test_modules_of_one_class_without_a_name_are_told_apart():
    nets = [mlp(4, 2), mlp(4, 2)]
    drawing = rldebug.graph(sum(each(OBS).mean() for each in nets), nets)
    assert boxes(drawing) == ["Sequential", "Sequential 2"]


def test_what_is_wrong_is_found():
    actor, critic = mlp(4, 2), mlp(4, 1)
    advantage = torch.randn(8) - critic(OBS).squeeze(1)
    losses = {"policy": -(actor(OBS)[:, 0] * advantage).mean(), "value": advantage.pow(2).mean()}
    drawing = rldebug.graph(losses, {"actor": actor, "critic": critic}, [adam(actor), adam(critic)])
    assert [each.code for each in drawing.findings] == ["GRA802"]
    report = drawing.report()
    assert report.command == "graph"
    assert {"GRA800", "OPT800", "OPT801"} <= set(report.checked)


def test_a_sound_update_has_nothing_wrong():
    actor, critic = mlp(4, 2), mlp(4, 1)
    loss = actor(OBS)[:, 0].mean() + critic(OBS).pow(2).mean()
    drawing = rldebug.graph(loss, [actor, critic], adam(actor, critic))
    assert drawing.findings == ()


def test_who_owns_what_is_printed():
    actor, target = mlp(4, 2), mlp(4, 2).requires_grad_(False)
    drawing = rldebug.graph(actor(OBS).mean(), {"actor": actor, "target": target}, {"adam": adam(actor)})
    header, first, second, last = str(drawing).splitlines()
    assert header.split() == ["weights", "loss", "optimizer", "kept"]
    assert first.split()[:4] == ["actor", "114", "loss", "adam"]
    assert second.split()[:4] == ["target", "114", "frozen", "none"]
    assert last.split() == ["optimizer", "adam", "114"]


def test_it_is_saved_and_shown(tmp_path):
    drawing = Learner().draw(title="the first update")
    file = drawing.save(tmp_path / "graph.svg")
    text = file.read_text(encoding="utf-8")
    assert text == drawing._repr_svg_() == drawing.svg()
    assert "the first update" in text


def test_only_plain_facts_are_kept():
    assert json.dumps(Learner().draw().graph.to_dict())


def test_it_can_be_called_after_backward_too():
    net = mlp(4, 2)
    loss = net(OBS).mean()
    loss.backward()
    drawing = rldebug.graph(loss, net)
    assert drawing.graph.freed
    assert "has run already" in drawing.svg()


# ── what cannot be drawn ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("loss", "says"),
    [
        (0.5, "loss is a float, expected a tensor, and .item()"),
        ([torch.ones(1)], "loss is a list"),
        ({}, "no loss was given"),
        ({"policy": None}, "policy is a NoneType"),
        ({3: torch.ones(1)}, "a loss is called 3"),
        (torch.ones(3), "loss carries no graph"),
        ({"a": torch.ones(3), "b": torch.ones(3)}, "a and b carry no graph"),
    ],
)
def test_a_loss_must_carry_a_graph(loss, says):
    with pytest.raises(HandoverError) as raised:
        rldebug.graph(loss)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"modules": {}}, "modules is empty"),
        ({"modules": []}, "modules is empty"),
        ({"modules": {"net": 3}}, "module net is a int"),
        ({"modules": [nn.Linear(1, 1), "net"]}, "is a str"),
        ({"optimizers": {"adam": nn.Linear(1, 1)}}, "optimizer adam is a Linear"),
    ],
)
def test_modules_and_optimizers_must_be_such(given, says):
    with pytest.raises(HandoverError) as raised:
        Learner().draw(**given)
    assert says in str(raised.value)


@pytest.mark.parametrize("name", ["graph.png", "graph", "graph.svg.pdf"])
def test_only_svg_is_written(name, tmp_path):
    with pytest.raises(HandoverError, match=r"\.svg"):
        Learner().draw().save(tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_a_file_that_cannot_be_written_says_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        Learner().draw().save(tmp_path / "nowhere" / "graph.svg")


def test_a_leaf_is_a_graph_of_one():
    weight = nn.Parameter(torch.ones(3))
    drawing = rldebug.graph(weight, {"weight": weight})
    assert boxes(drawing) == ["weight"]
    assert "weight" in drawing.svg()
