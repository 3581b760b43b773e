import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from rldebug.evidence.graph import Graph, read_graph, write_graph
from rldebug.evidence.graphs.units import units_of
from rldebug.evidence.graphs.walk import joined, plain_name, size_of, walk
from tests.rules.graphs import adam, drawn, mlp, read_again

OBS = torch.randn(8, 4)


class Agent(nn.Module):
    """A trunk, and two heads side by side."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
        self.actor = nn.Linear(16, 2)
        self.critic = nn.Linear(16, 1)

    def losses(self):
        features = self.trunk(OBS)
        return {
            "policy": self.actor(features).log_softmax(-1)[:, 0].mean(),
            "value": self.critic(features).pow(2).mean(),
        }


class Actor(nn.Module):
    """Two layers in a row, then two side by side."""

    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(4, 16), nn.Linear(16, 16)
        self.mean, self.log_std = nn.Linear(16, 2), nn.Linear(16, 2)

    def forward(self, obs):
        features = torch.relu(self.fc2(torch.relu(self.fc1(obs))))
        return self.mean(features) + self.log_std(features).exp()


def titles(graph, kind="module"):
    return [each.title for each in graph.boxes if each.kind == kind]


def box(graph, title):
    return next(each for each in graph.boxes if each.title == title)


# ── the walk ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("LogSoftmaxBackward0", "log_softmax"),
        ("torch::autograd::CopySlices", "copy_slices"),
        ("MseLossBackward0", "mse_loss"),
        ("TBackward0", "t"),
        ("MyOpBackward", "my_op"),
    ],
)
def test_operations_are_called_as_in_python(name, plain):
    assert plain_name(name) == plain


def test_a_walk_holds_what_autograd_does():
    net = nn.Linear(4, 2)
    found = walk({"loss": net(OBS).tanh().sum()})
    assert found.names[:3] == ["sum", "tanh", "addmm"]
    assert found.shapes[1] == (8, 2)
    assert {id(each) for each in found.leaves.values()} == {id(each) for each in net.parameters()}
    assert found.inputs[2][1] == -1  # the observations carry no graph
    order = found.order()
    place = {node: i for i, node in enumerate(order)}
    assert len(order) == len(found.names)
    assert all(place[node] < place[each] for node, taken in enumerate(found.inputs) for each in taken if each >= 0)


def test_what_is_saved_is_counted_once_and_without_the_weights():
    net = nn.Linear(4, 2)
    out = net(OBS).tanh()
    found = walk({"loss": (out.exp() + out.sin()).sum()})
    # The input of the layer, what tanh gave (which sin keeps too), and what exp gave.
    assert sum(found.saved) == 4 * (8 * 4 + 8 * 2 + 8 * 2)


def test_a_graph_that_was_freed_is_walked_all_the_same():
    net = mlp(4, 2)
    loss = net(OBS).sum()
    loss.backward()
    graph = drawn(loss, net=net)
    assert graph.freed
    assert graph.saved == 0
    assert titles(graph) == ["net"]


def test_looking_does_not_run_a_checkpointed_forward_pass_again():
    net, calls = mlp(4, 2), []

    def forward(obs):
        calls.append(obs)
        return net(obs)

    loss = checkpoint(forward, OBS, use_reentrant=False).sum()
    drawn(loss, net=net)
    assert len(calls) == 1
    loss.backward()
    assert len(calls) == 2


def test_gradients_are_the_same_after_looking():
    net = mlp(4, 2)
    net(OBS).pow(2).mean().backward()
    before = [each.grad.clone() for each in net.parameters()]
    net.zero_grad()
    state = torch.get_rng_state()
    loss = net(OBS).pow(2).mean()
    drawn(loss, net=net)
    assert torch.equal(torch.get_rng_state(), state)
    loss.backward()
    assert all(torch.equal(one.grad, other) for one, other in zip(net.parameters(), before, strict=True))


def test_a_function_of_the_users_own_is_an_operation():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, given):
            ctx.save_for_backward(given)
            return given * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    net = mlp(4, 2)
    graph = drawn(Double.apply(net(OBS)).sum(), net=net)
    assert any("double" in each for each in titles(graph, "operations"))


def test_sixty_thousand_nodes_are_walked_and_folded():
    weight = torch.ones(3, requires_grad=True)
    steps = []
    for _ in range(300):
        step = weight
        for _ in range(100):
            step = step * weight + 0.1
        steps.append(step)
    graph = drawn(torch.stack(steps).sum(), weight=weight)
    assert graph.nodes > 60_000
    assert not graph.bounded
    assert len(graph.boxes) < 10


def test_a_chain_of_a_hundred_thousand_steps_is_let_go_of_without_harm():
    total = weight = torch.ones(3, requires_grad=True)
    for _ in range(100_000):
        total = total.sin()
    loss = total.sum()
    graph = drawn(loss, weight=weight)
    assert graph.bounded
    assert graph.nodes > 4000
    assert size_of(loss, -1, 1_000_000)[3]
    del total, loss  # the end of the process, where too much of it was looked at


def test_a_walk_can_be_bounded():
    total = torch.ones(3, requires_grad=True)
    for _ in range(100):
        total = total.sin()
    found = walk({"loss": total.sum()}, bound=50)
    assert found.bounded
    assert len(found.names) == 50


def test_losses_walked_one_by_one_have_their_common_part_once():
    agent = Agent()
    losses = agent.losses()
    apart = joined([walk({name: each}) for name, each in losses.items()])
    together = walk(losses)
    assert sorted(apart.names) == sorted(together.names)
    assert [each.title for each in drawn(losses, agent=agent).boxes if len(each.losses) == 2] == ["agent.trunk"]
    units = units_of(apart, {"agent": agent})
    assert {units.names[i]: units.losses[node] for node, i in units.leaf.items()}["agent.trunk"] == 0b11


def test_nodes_of_an_earlier_update_are_old():
    net = mlp(4, 2)
    first = net(OBS).sum()
    nodes, old, newest, bounded = size_of(first, -1, 1000)
    assert (old, bounded) == (0, False)
    _, old, _, _ = size_of(net(OBS).sum(), newest, 1000)
    assert old == 0
    more, old, _, _ = size_of(first + net(OBS).sum(), newest, 1000)
    assert 0 < old < nodes < more
    assert size_of(first, -1, 3)[3]


# ── modules ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_agent_falls_into_its_networks():
    agent = Agent()
    assert titles(drawn(sum(agent.losses().values()), agent=agent)) == ["agent.trunk", "agent.actor", "agent.critic"]


def test_layers_in_a_row_are_one_box():
    net, actor = mlp(4, 2), Actor()
    assert titles(drawn(net(OBS).sum(), net=net)) == ["net"]
    assert titles(drawn(actor(OBS).sum(), actor=actor)) == ["actor.fc1 … fc2", "actor.mean", "actor.log_std"]


def test_a_module_around_one_other_keeps_its_own_name():
    inner = mlp(4, 2)
    outer = nn.Module()
    outer.inner = inner
    assert titles(drawn(inner(OBS).sum(), outer=outer)) == ["outer"]


def test_layers_of_bare_parameters_are_a_network_too():
    class Ensemble(nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = nn.ParameterList(nn.Parameter(torch.randn(2, a, b)) for a, b in ((4, 8), (8, 8), (8, 1)))
            self.biases = nn.ParameterList(nn.Parameter(torch.zeros(2, 1, b)) for b in (8, 8, 1))

        def forward(self, given):
            for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
                given = torch.bmm(given, weight) + bias
                given = given.relu() if i < 2 else given
            return given

    q, actor = Ensemble(), mlp(4, 4)
    losses = {
        "critic": q(OBS.expand(2, 8, 4)).pow(2).mean(),
        "actor": -q(actor(OBS).expand(2, 8, 4)).min(0).values.mean(),
    }
    graph = drawn(losses, q=q, actor=actor)
    assert titles(graph) == ["q", "actor"]
    assert graph.signs == ()


def test_what_no_loss_leads_to_stands_apart():
    agent = Agent()
    graph = drawn({"policy": agent.losses()["policy"]}, agent=agent)
    assert box(graph, "agent.critic").losses == ()
    assert {each.name: each.losses for each in graph.parameters}["agent.critic.bias"] == ()


def test_activations_belong_to_the_network_that_they_follow():
    actor = nn.Sequential(nn.Linear(4, 2), nn.Tanh())
    graph = drawn(actor(OBS).sum(), actor=actor)
    assert titles(graph, "operations") == ["sum"]


def test_a_leaf_of_no_module_is_named_as_such():
    weight = nn.Parameter(torch.ones(3))
    graph = drawn(weight.exp().sum(), net=mlp(4, 2))
    assert "parameter of no module (3)" in titles(graph)


def test_parameters_know_who_holds_them():
    agent = Agent()
    graph = drawn(agent.losses(), {"one": adam(agent.trunk, agent.actor), "two": adam(agent.trunk)}, agent=agent)
    owners = {each.name: each.optimizers for each in graph.parameters}
    assert owners["agent.trunk.0.weight"] == ("one", "two")
    assert owners["agent.critic.weight"] == ()
    assert box(graph, "agent.trunk").optimizers == ("one", "two")


# ── folding ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_steps_of_a_rollout_are_folded_into_one():
    policy = mlp(4, 2)
    logp = torch.stack([policy(each).log_softmax(-1)[0] for each in torch.randn(128, 4)])
    graph = drawn(-(logp * torch.randn(128)).sum(), policy=policy)
    assert box(graph, "policy").times == 128
    assert next(each for each in graph.boxes if "log_softmax" in each.names).times == 128
    assert len(graph.boxes) <= 5


def test_a_recurrent_cell_is_one_box():
    cell, head, state = nn.GRUCell(4, 8), nn.Linear(8, 2), torch.zeros(8, 8)
    total = 0
    for _ in range(64):
        state = cell(OBS, state)
        total = total + head(state).log_softmax(-1)[:, 0].mean()
    graph = drawn(total, cell=cell, head=head)
    assert box(graph, "cell").times == box(graph, "head").times == 64
    assert any("sum of" in each for each in titles(graph, "operations"))
    assert len(graph.boxes) < 10


def test_a_long_list_of_different_operations_still_fits():
    net, out = mlp(4, 8), []
    given = net(OBS)
    for i in range(60):
        out.append((given[:, i % 8] * i).sin() if i % 2 else given.exp().sum(1) + i)
        given = given.cos() if i % 3 else given.tanh()
    graph = drawn(torch.stack(out).sum(), net=net)
    assert len(graph.boxes) <= 40


def test_arrows_carry_shapes_and_losses():
    agent = Agent()
    graph = drawn(agent.losses(), agent=agent)
    place = {each.title: i for i, each in enumerate(graph.boxes)}
    arrow = next(
        each for each in graph.arrows if (each.source, each.target) == (place["agent.trunk"], place["agent.actor"])
    )
    assert (arrow.shape, arrow.losses) == ("8×16", ("policy",))


def test_the_same_program_gives_the_same_graph():
    def made():
        torch.manual_seed(0)
        agent = Agent()
        return drawn(agent.losses(), {"adam": adam(agent)}, agent=agent)

    assert made() == made()


# ── on disk ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_graph_is_read_as_it_was_written(tmp_path):
    agent = Agent()
    graph = drawn(agent.losses(), {"adam": adam(agent)}, agent=agent)
    write_graph(graph, tmp_path)
    assert read_graph(tmp_path) == graph == read_again(graph)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"losses": 3}', '{"what": []}'])
def test_what_a_hand_has_spoilt_is_no_graph(text, tmp_path):
    (tmp_path / "graph.json").write_text(text)
    assert read_graph(tmp_path) is None
    assert read_graph(tmp_path / "nowhere") is None


def test_an_empty_graph_can_be_kept():
    assert read_again(Graph()) == Graph()
