"""One call for all networks beside a loop over them."""

import copy
import pickle

import pytest
import torch
from torch import nn

from rldebug.parts.ensemble import Ensemble, soft_update
from rldebug.parts.heads import mlp

N = 3


class Critic(nn.Module):
    """Two inputs, a buffer, and an operation that is no module."""

    def __init__(self):
        super().__init__()
        self.net = mlp((5, 8, 1), nn.ReLU)
        self.register_buffer("shift", torch.randn(1))

    def forward(self, obs, action):
        return self.net(torch.cat([obs, action], -1)).squeeze(-1) + self.shift


KINDS = {
    "mlp": (lambda: mlp((4, 8, 8, 2)), [(6, 4)]),
    "mlp without bias": (lambda: nn.Sequential(nn.Linear(4, 8, bias=False), nn.SiLU(), nn.Linear(8, 2)), [(6, 4)]),
    "mlp on time and batch": (lambda: mlp((4, 8, 2), nn.ReLU), [(3, 6, 4)]),
    "nested": (lambda: nn.Sequential(mlp((4, 8)), nn.LayerNorm(8), mlp((8, 1))), [(6, 4)]),
    "two inputs": (Critic, [(6, 3), (6, 2)]),
    "convolution": (
        lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(27, 1)),
        [(6, 2, 5, 5)],
    ),
    "batch norm": (lambda: nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1)), [(6, 4)]),
}


def made(kind, n=N):
    torch.manual_seed(0)
    make, shapes = KINDS[kind]
    return Ensemble(make, n), [torch.randn(shape, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("n", [1, N])
@pytest.mark.parametrize("kind", KINDS)
def test_equal_to_a_loop_forward_and_backward(kind, n):
    ensemble, inputs = made(kind, n)
    members = [ensemble.select(i) for i in range(n)]
    out = ensemble(*inputs)
    expected = torch.stack([member(*inputs) for member in members])
    torch.testing.assert_close(out, expected)
    weights = torch.randn_like(out)
    gradients = torch.autograd.grad((out * weights).sum(), [*inputs, *ensemble.parameters()])
    in_loop = torch.autograd.grad((expected * weights).sum(), inputs)
    torch.testing.assert_close(gradients[: len(inputs)], in_loop, rtol=1e-4, atol=1e-5)
    for i, member in enumerate(members):
        loss = (member(*inputs) * weights[i]).sum()
        of_member = dict(
            zip(dict(member.named_parameters()), torch.autograd.grad(loss, member.parameters()), strict=True)
        )
        of_all = dict(zip(dict(ensemble.named_parameters()), gradients[len(inputs) :], strict=True))
        for name, gradient in of_member.items():
            torch.testing.assert_close(of_all[name.replace(".", "__")][i], gradient, rtol=1e-4, atol=1e-5)


def test_running_statistics_are_each_networks_own():
    ensemble, inputs = made("batch norm")
    members = [ensemble.select(i) for i in range(N)]
    for _ in range(3):
        ensemble(*inputs)
        for member in members:
            member(*inputs)
    for i, member in enumerate(members):
        torch.testing.assert_close(getattr(ensemble, "1__running_mean")[i], member[1].running_mean)
        torch.testing.assert_close(getattr(ensemble, "1__running_var")[i], member[1].running_var)
    ensemble.eval()
    torch.testing.assert_close(ensemble(*inputs), torch.stack([member.eval()(*inputs) for member in members]))


def test_networks_start_apart():
    ensemble, _ = made("mlp")
    for parameter in ensemble.parameters():
        if parameter.ndim > 2:
            assert not any(parameter[0].equal(parameter[i]) for i in range(1, N))


def test_parameters_are_leaves_an_optimizer_takes():
    ensemble, inputs = made("mlp")
    assert {name: tuple(each.shape) for name, each in ensemble.named_parameters()} == {
        "0__weight": (N, 8, 4),
        "0__bias": (N, 8),
        "2__weight": (N, 8, 8),
        "2__bias": (N, 8),
        "4__weight": (N, 2, 8),
        "4__bias": (N, 2),
    }
    assert all(each.is_leaf and each.requires_grad for each in ensemble.parameters())
    optimizer = torch.optim.SGD(ensemble.parameters(), lr=0.05)
    losses = []
    for _ in range(20):
        loss = (ensemble(*inputs) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


def test_frozen_parameters_stay_frozen():
    def make():
        net = mlp((4, 8, 2))
        net[0].weight.requires_grad_(False)
        return net

    ensemble = Ensemble(make, 2)
    frozen = [name for name, each in ensemble.named_parameters() if not each.requires_grad]
    assert frozen == ["0__weight"]


@pytest.mark.parametrize("kind", ["mlp", "two inputs"])
def test_a_copy_is_independent(kind):
    ensemble, inputs = made(kind)
    target = copy.deepcopy(ensemble)
    before = target(*inputs)
    with torch.no_grad():
        for parameter in ensemble.parameters():
            parameter.add_(1)
    torch.testing.assert_close(target(*inputs), before)
    assert not torch.allclose(ensemble(*inputs), before)


@pytest.mark.parametrize("kind", ["mlp", "two inputs"])
def test_state_and_pickle(kind):
    ensemble, inputs = made(kind)
    fresh = Ensemble(KINDS[kind][0], N)
    assert not torch.allclose(fresh(*inputs), ensemble(*inputs))
    fresh.load_state_dict(ensemble.state_dict())
    torch.testing.assert_close(fresh(*inputs), ensemble(*inputs))
    torch.testing.assert_close(pickle.loads(pickle.dumps(ensemble))(*inputs), ensemble(*inputs))


def test_a_selected_network_shares_nothing():
    ensemble, inputs = made("two inputs")
    member = ensemble.select(1)
    before = ensemble(*inputs)
    with torch.no_grad():
        for each in (*member.parameters(), *member.buffers()):
            each.add_(1)
    torch.testing.assert_close(ensemble(*inputs), before)
    for i in (-1, N):
        with pytest.raises(IndexError, match=f"i is {i}, expected 0 to 2"):
            ensemble.select(i)


def test_dropout_draws_for_each_network_and_stops_at_evaluation():
    torch.manual_seed(0)
    ensemble = Ensemble(lambda: nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)), 2)
    with torch.no_grad():
        for each in ensemble.parameters():
            each.fill_(1.0)
    x = torch.ones(50, 4)
    one, other = ensemble(x)
    assert not one.equal(other)
    assert sorted(one.unique().tolist()) == [0.0, 10.0]
    assert ensemble.eval()(x).unique().tolist() == [5.0]
    assert 0.0 in ensemble.train()(x)
    assert not ensemble.eval().select(0).training


def test_under_no_grad_and_inference_mode():
    ensemble, inputs = made("mlp")
    expected = ensemble(*inputs)
    with torch.no_grad():
        torch.testing.assert_close(ensemble(*inputs), expected.detach())
    with torch.inference_mode():
        torch.testing.assert_close(ensemble(*inputs), expected.detach().clone())


def test_in_double_precision():
    ensemble, inputs = made("two inputs")
    out = ensemble.double()(*(each.double() for each in inputs))
    assert out.dtype == torch.float64
    assert ensemble.select(0)(*(each.double() for each in inputs)).shape == (6,)


# ── What is refused ──


def test_networks_of_different_structure_are_refused():
    widths = iter([8, 9])
    with pytest.raises(ValueError, match="network 1 differs from the first"):
        Ensemble(lambda: mlp((4, next(widths), 1)), 2)
    activations = iter([nn.Tanh, nn.ReLU])
    with pytest.raises(ValueError, match="network 1 differs from the first"):
        Ensemble(lambda: mlp((4, 8, 1), next(activations)), 2)


def test_networks_that_are_not_new_are_refused():
    net, trunk = mlp((4, 1)), nn.Linear(4, 4)
    with pytest.raises(ValueError, match="the same parameters twice"):
        Ensemble(lambda: net, 2)
    with pytest.raises(ValueError, match="the same parameters twice"):
        Ensemble(lambda: nn.Sequential(trunk, nn.Linear(4, 1)), 2)


def test_nothing_to_stack_is_refused():
    with pytest.raises(ValueError, match="without parameters"):
        Ensemble(nn.Tanh, 2)
    with pytest.raises(ValueError, match="n is 0, expected at least one"):
        Ensemble(nn.Tanh, 0)


# ── soft_update ──


@pytest.mark.parametrize("foreach", [True, False], ids=["foreach", "one by one"])
@pytest.mark.parametrize("tau", [0.0, 0.005, 0.7, 1.0])
def test_soft_update_as_defined(tau, foreach, monkeypatch):
    if not foreach:
        monkeypatch.delattr(torch, "_foreach_lerp_")
    source, target = Ensemble(Critic, 2), Ensemble(Critic, 2)
    expected = [
        (1 - tau) * old.detach() + tau * new.detach()
        for old, new in zip(target.parameters(), source.parameters(), strict=True)
    ]
    unchanged = copy.deepcopy(source.state_dict())
    soft_update(target, source, tau)
    torch.testing.assert_close([each.detach() for each in target.parameters()], expected)
    assert target.shift.equal(source.shift)
    assert all(unchanged[name].equal(each) for name, each in source.state_dict().items())
    if tau == 1:
        assert all(a.equal(b) for a, b in zip(target.parameters(), source.parameters(), strict=True))


def test_soft_update_leaves_no_graph_and_keeps_the_tensors():
    source, target = mlp((3, 1)), mlp((3, 1))
    ids = [id(each) for each in target.parameters()]
    soft_update(target, source, 0.5)
    assert [id(each) for each in target.parameters()] == ids
    assert all(each.is_leaf and each.grad_fn is None for each in target.parameters())


def test_soft_update_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"tau is 1\.5, expected a share"):
        soft_update(mlp((3, 1)), mlp((3, 1)), 1.5)
    with pytest.raises(ValueError, match=r"the parameters of target have shapes .*expected those of source"):
        soft_update(mlp((3, 1)), mlp((3, 2)), 0.5)
    with pytest.raises(ValueError, match="the buffers of target"):
        soft_update(nn.BatchNorm1d(3), nn.LayerNorm(3), 0.5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.filterwarnings("ignore:Synchronization debug mode")  # torch's own, on being asked
@pytest.mark.parametrize("kind", KINDS)
def test_on_a_gpu_it_gives_the_same_and_waits_for_nothing(kind):
    ensemble, inputs = made(kind)
    expected = ensemble(*inputs)
    ensemble, inputs = made(kind)
    ensemble.cuda()
    inputs = [each.detach().cuda() for each in inputs]
    target = copy.deepcopy(ensemble)
    ensemble(*inputs).sum().backward()  # warm up
    ensemble, _ = made(kind)
    ensemble.cuda()
    torch.cuda.set_sync_debug_mode("error")
    try:
        out = ensemble(*inputs)
        out.sum().backward()
        soft_update(target, ensemble, 0.5)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    torch.testing.assert_close(out.detach().cpu(), expected.detach(), rtol=1e-2, atol=1e-2)  # convolutions use TF32
    assert next(ensemble.select(0).parameters()).is_cuda
