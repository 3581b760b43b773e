"""What is kept for backward: the line that has it kept, how much, and that nothing is changed by looking."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from rldebug.capture import backward, kept
from rldebug.capture.kept import KeptForBackward
from rldebug.capture.switch import Switchboard
from rldebug.evidence.timing import Kept
from tests.capture.fake_session import hooked

ROWS, WIDE = 64, 4096


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.narrow, self.wide, self.out = nn.Linear(4, 16), nn.Linear(16, WIDE), nn.Linear(WIDE, 1)

    def forward(self, obs: Tensor) -> Tensor:
        hidden = torch.tanh(self.narrow(obs))
        hidden = torch.relu(self.wide(hidden))
        return self.out(hidden)


def line_in(function: Callable[..., object], below: int) -> int:
    return function.__code__.co_firstlineno + below


@pytest.fixture
def looker() -> Iterator[KeptForBackward]:
    switch = Switchboard()
    yield kept.install(switch)
    assert not switch.broken, "\n".join(switch.broken.values())
    switch.undo()
    assert not torch.is_anomaly_enabled()


def looked_at(looker: KeptForBackward, program: Callable[[], object]) -> tuple[Kept, ...]:
    assert looker.begin()
    program()
    return looker.end()


def test_the_line_of_a_wide_layer_is_named_with_its_bytes(looker: KeptForBackward) -> None:
    net = Net()
    found = looked_at(looker, lambda: net(torch.randn(ROWS, 4)).mean().backward())
    assert found[0].spot.line == line_in(Net.forward, 2)
    assert found[0].spot.function == "forward"
    assert found[0].spot.file.endswith("test_kept.py")
    assert found[0].spot.kind == "user"
    assert found[0].bytes == ROWS * WIDE * 4  # of relu; the layer after it keeps the same storage
    assert found[0].tensors == 1
    assert found[1].spot.line == line_in(Net.forward, 1)
    assert found[1].bytes == ROWS * (4 + 16) * 4  # its input and its tanh
    assert len(found) == 2  # the weights, which are a hundred times as large as the input, are not counted


def test_all_losses_of_an_update_are_counted_and_what_they_share_once(looker: KeptForBackward) -> None:
    net = Net()

    def both() -> None:
        values = net(torch.randn(ROWS, 4))
        torch.autograd.grad(values.mean(), net.out.weight, retain_graph=True)
        values.square().mean().backward()
        net(torch.randn(2 * ROWS, 4)).mean().backward()

    found = looked_at(looker, both)
    assert found[0].spot.line == line_in(Net.forward, 2)
    assert found[0].bytes == 3 * ROWS * WIDE * 4
    assert found[0].tensors == 2


def test_what_lies_under_hooks_of_the_program_is_left_alone(looker: KeptForBackward) -> None:
    net, runs = Net(), []

    def counted(obs: Tensor) -> Tensor:
        runs.append(len(obs))
        return net(obs)

    obs = torch.randn(ROWS, 4, requires_grad=True)
    found = looked_at(looker, lambda: checkpoint(counted, obs, use_reentrant=False).mean().backward())
    assert len(runs) == 2  # forward, and once more in backward: looking has not run it a third time
    assert sum(each.bytes for each in found) < ROWS * WIDE


def test_gradients_are_the_same_to_the_bit(looker: KeptForBackward) -> None:
    def gradients() -> list[Tensor]:
        torch.manual_seed(0)
        net = Net()
        obs = torch.randn(ROWS, 4)
        (slope,) = torch.autograd.grad(net(obs).sum(), net.narrow.weight, create_graph=True)
        (F.mse_loss(net(obs), torch.ones(ROWS, 1)) + slope.square().sum()).backward()
        return [each.grad.clone() for each in net.parameters() if each.grad is not None]

    plain, after = gradients(), []
    assert looked_at(looker, lambda: after.extend(gradients()))
    assert len(plain) == 6
    assert all(torch.equal(one, other) for one, other in zip(plain, after, strict=True))


def test_a_change_in_place_is_still_an_error_with_the_same_words(looker: KeptForBackward) -> None:
    def changed() -> str:
        kept = torch.ones(3, requires_grad=True).exp()
        loss = (kept * kept).sum()
        kept.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
            loss.backward()
        return str(caught.value)

    plain, after = changed(), []
    looked_at(looker, lambda: after.append(changed()))
    assert after == [plain]


def test_transforms_of_torch_func_run_as_before(looker: KeptForBackward) -> None:
    weights = torch.randn(3)
    found: list[Tensor] = []
    looked_at(looker, lambda: found.append(torch.func.grad(lambda w: (w**2).sum())(weights)))
    looked_at(looker, lambda: found.append(torch.func.vmap(torch.func.grad(lambda w: w**2))(weights)))
    assert torch.equal(found[0], 2 * weights)
    assert torch.equal(found[1], 2 * weights)


def test_lines_are_remembered_in_between_only_and_graphs_are_let_go(looker: KeptForBackward) -> None:
    net, gone = Net(), []

    def update() -> None:
        assert torch.is_anomaly_enabled()
        hidden = net.narrow(torch.randn(ROWS, 4)).exp()
        gone.append(weakref.ref(hidden))
        hidden.mean().backward()

    assert looker.begin()
    assert backward.remembers_lines()
    update()
    gc.collect()
    assert gone[0]() is None  # while the looker is still there
    assert looker.end()
    assert not torch.is_anomaly_enabled()
    assert not backward.remembers_lines()


def test_the_next_update_begins_at_nothing(looker: KeptForBackward) -> None:
    net = Net()
    first, second = (looked_at(looker, lambda: net(torch.ones(ROWS, 4)).mean().backward()) for _ in range(2))
    assert first == second
    net(torch.ones(ROWS, 4)).mean().backward()
    assert looker.end() == second  # and in between nothing is added


def test_a_program_that_sets_anomaly_mode_finds_it_as_it_left_it(looker: KeptForBackward) -> None:
    assert looker.begin()
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled()
    looker.end()
    assert looker.begin()
    torch.autograd.set_detect_anomaly(True, check_nan=False)
    looker.end()
    assert torch.is_anomaly_enabled()  # its own, and left on
    torch.autograd.set_detect_anomaly(False)


def test_beside_what_else_looks_at_losses(looker: KeptForBackward) -> None:
    with hooked(backward) as session:
        session.audit = None
        net = Net()
        beside = Switchboard()
        over = kept.install(beside)  # put in place after it, as in `rldebug run --profile`
        found = looked_at(over, lambda: net(torch.ones(ROWS, 4)).mean().backward())
        beside.undo()
        assert found[0].bytes == ROWS * WIDE * 4
        assert backward.counts() == {"backwards": 1, "grads": 0}
        assert not torch.is_anomaly_enabled()


def test_a_program_that_compiles_is_left_alone(looker: KeptForBackward, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "compiling", lambda: True)
    assert not looker.begin()
    assert not torch.is_anomaly_enabled()
    assert looker.end() == ()
