import torch
from torch import nn

from rldebug.evidence.graph import Graph, read_graph
from rldebug.recorded import recorded
from tests.rules.graphs import adam, mlp
from tests.watched import watched


def two_losses(updates=12, every=2):
    """A critic that learns each time, and an actor every other time, by lines and optimizers of their own."""

    def program():
        torch.manual_seed(0)
        actor, critic = mlp(4, 2), mlp(6, 1)
        actor_optimizer, critic_optimizer = adam(actor), adam(critic)
        for update in range(updates):
            obs = torch.randn(8, 4)
            critic_loss = critic(torch.randn(8, 6)).pow(2).mean()
            critic_optimizer.zero_grad()
            critic_loss.backward()
            critic_optimizer.step()
            if update % every:
                actor_loss = -critic(torch.cat([obs, actor(obs)], -1)).mean()
                actor_optimizer.zero_grad()
                actor_loss.backward()
                actor_optimizer.step()

    return program


def seen(program, folder, **options):
    watched(program, folder, **options)
    return read_graph(folder)


def test_all_losses_of_an_early_update_are_in_one_graph(tmp_path):
    graph = seen(two_losses(), tmp_path / "run", graph=True)
    assert [each.name for each in graph.losses] == ["critic_loss", "actor_loss"]
    assert graph.losses[0].line[0].endswith("test_graphs.py")
    assert {each.title: each.losses for each in graph.boxes if each.kind == "module"} == {
        "actor": ("actor_loss",),
        "critic": ("critic_loss", "actor_loss"),
    }
    assert {each.name: each.optimizers for each in graph.parameters}["actor.0.weight"] == ("actor_optimizer",)
    assert graph.update == 1
    assert graph.saved > 0


def test_a_program_that_ends_early_is_drawn_too(tmp_path):
    graph = seen(two_losses(updates=1), tmp_path / "run", graph=True)
    assert [each.name for each in graph.losses] == ["critic_loss"]


def test_gradients_that_are_asked_for_are_drawn_where_nothing_else_is(tmp_path):
    def program():
        net = mlp(4, 2)
        for _ in range(8):
            surrogate = net(torch.randn(8, 4)).mean()
            torch.autograd.grad(surrogate, list(net.parameters()))

    assert [each.name for each in seen(program, tmp_path / "run", graph=True).losses] == ["surrogate"]


def test_losses_of_one_name_are_told_apart(tmp_path):
    def program():
        net = mlp(4, 2)
        for _ in range(8):
            loss = net(torch.randn(8, 4)).mean()
            loss.backward()
            loss = net(torch.randn(8, 4)).pow(2).mean()
            loss.backward()

    first, second = (each.name for each in seen(program, tmp_path / "run", graph=True).losses)
    assert first == "loss"
    assert second.startswith("loss, line ")


def test_sizes_are_taken_ever_further_apart(tmp_path):
    graph = seen(two_losses(updates=60, every=1), tmp_path / "run")
    assert [each.update for each in graph.sizes] == [1, 8, 16, 32]
    assert len({each.nodes for each in graph.sizes}) == 1
    assert {each.old for each in graph.sizes} == {0}


def test_a_graph_that_nobody_asked_for_is_kept_to_be_drawn_and_not_judged(tmp_path):
    graph = seen(two_losses(), tmp_path / "run")
    assert graph.losses
    assert not graph.asked
    judged = [each for each in recorded(tmp_path / "run").evidences if isinstance(each, Graph)]
    assert [(each.losses, each.sizes) for each in judged] == [((), graph.sizes)]
    assert seen(two_losses(), tmp_path / "other", graph=True).asked


def test_a_graph_that_is_carried_on_is_seen_to_be_old(tmp_path):
    def program():
        cell, state = nn.RNNCell(3, 4), torch.zeros(1, 4)
        for _ in range(40):
            state = cell(torch.randn(1, 3), state)
            state.sum().backward(retain_graph=True)

    sizes = seen(program, tmp_path / "run").sizes
    assert [each.nodes for each in sizes] == sorted({each.nodes for each in sizes})
    assert sizes[-1].old > sizes[-1].nodes / 4


def test_without_it_nothing_is_written(tmp_path):
    assert seen(two_losses(), tmp_path / "run", without=("arguments", "graphs"), graph=True) is None
    assert seen(two_losses(), tmp_path / "other", without=("arguments", "backward"), graph=True) is None


def test_a_program_without_losses_leaves_none(tmp_path):
    assert seen(lambda: mlp(4, 2)(torch.randn(8, 4)), tmp_path / "run", graph=True) is None
