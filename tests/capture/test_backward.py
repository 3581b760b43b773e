"""Losses: what is said about them, and that running them is not changed."""

from __future__ import annotations

import warnings

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.fx import traceback as stacks

from rldebug.capture import backward
from rldebug.capture.loss_nodes import line_of
from tests.capture.fake_session import FakeSession, hooked


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


def loss_of(module: nn.Module, rows: int = 5) -> Tensor:
    return F.mse_loss(module(torch.ones(rows, 3)).squeeze(1), torch.zeros(rows))


def test_a_loss_is_told_with_its_terms() -> None:
    with hooked(backward) as session:
        module = net()
        name = session.registry.module(module)
        loss = loss_of(module)
        (2.0 * loss).backward()
        assert session.audit is not None
        (told,) = session.audit.of("loss")
        assert told["how"] == "backward"
        assert told["reached"] == [name]
        assert told["frozen"] == []
        assert told["value"] == pytest.approx(2 * float(loss.detach()))
        assert told["line"][0].endswith("test_backward.py")
        (term,) = session.audit.of("term")
        assert term["kind"] == "regression"
        assert term["coefficient"] == pytest.approx(2.0)
        assert term["reached"] == [name]
        assert list(session.audit.arrays("term")[0]["rows"]) == [0, 1, 2, 3, 4]


def test_parameters_that_a_loss_misses_are_named() -> None:
    with hooked(backward) as session:
        module = nn.ModuleDict({"policy": nn.Linear(3, 2), "value": nn.Linear(3, 1)})
        name = session.registry.module(module)
        module["value"](torch.ones(2, 3)).square().mean().backward()
        assert session.audit is not None
        (told,) = session.audit.of("loss")
        assert told["frozen"] == [f"{name}.policy.weight", f"{name}.policy.bias"]


def test_autograd_grad_is_told_and_leads_to_what_was_asked_for() -> None:
    with hooked(backward) as session:
        module = net()
        name = session.registry.module(module)
        first = list(module.parameters())[:1]
        torch.autograd.grad(loss_of(module), first, create_graph=True)
        loss_of(module).backward(create_graph=False, inputs=first)
        assert session.audit is not None
        by_grad, by_backward = session.audit.of("loss")
        assert (by_grad["how"], by_grad["asked"], by_grad["reached"]) == ("grad", 1, [name])
        assert by_grad["missed"] == 3
        assert by_backward["how"] == "backward"
        assert backward.counts() == {"backwards": 1, "grads": 1}


def test_outside_of_audits_losses_are_counted_only() -> None:
    with hooked(backward) as session:
        audit, session.audit = session.audit, None
        loss_of(net()).backward()
        assert audit is not None
        assert audit.events == []
        assert backward.counts()["backwards"] == 1


def test_few_of_many_losses_of_a_line_are_walked_and_each_line_is() -> None:
    with hooked(backward) as session:
        module = net()
        for _ in range(100):
            loss_of(module, 2).backward()
            loss_of(module, 7).backward()
        assert session.audit is not None
        rows = [each["rows"] for each in session.audit.of("term")]
        assert len(rows) <= 24
        assert rows.count(2) >= 6
        assert rows.count(7) >= 6
        assert session.audit.losses == 200


def test_the_factor_of_a_grad_scaler_is_taken_out() -> None:
    with hooked(backward) as session:
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        loss = loss_of(net())
        scaler.scale(loss).backward()
        loss_of(net()).backward()  # one that is not scaled
        assert session.audit is not None
        scaled, plain = session.audit.of("loss")
        assert scaled["scale"] == 1024.0
        assert scaled["value"] == pytest.approx(float(loss.detach()))
        assert [each["coefficient"] for each in session.audit.of("term")] == [pytest.approx(1.0)] * 2
        assert plain["scale"] == 1.0
        assert [kind for kind, _ in session.notes] == ["amp"]


def test_a_backward_pass_inside_of_another_is_no_loss() -> None:
    class Reentrant(torch.autograd.Function):
        @staticmethod
        def forward(ctx, given):  # type: ignore[no-untyped-def]
            return given.clone()

        @staticmethod
        def backward(ctx, grad):  # type: ignore[no-untyped-def]
            with torch.enable_grad():
                leaf = torch.ones(2, requires_grad=True)
                (leaf * 3).sum().backward()
            return grad

    with hooked(backward) as session:
        Reentrant.apply(torch.ones(2, requires_grad=True)).sum().backward()
        assert session.audit is not None
        assert len(session.audit.of("loss")) == 1
        assert backward.counts()["backwards"] == 1


def test_torch_func_and_torchscript_work_and_are_not_looked_at() -> None:
    with hooked(backward) as session:
        torch.func.grad(lambda x: (x * x).sum())(torch.ones(2))

        def gradient(x: Tensor):  # type: ignore[no-untyped-def]
            return torch.autograd.grad([(x * x).sum()], [x])

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            scripted = torch.jit.script(gradient)
        assert scripted(torch.ones(2, requires_grad=True))[0].tolist() == [2.0, 2.0]
        assert session.audit is not None
        assert session.audit.of("loss") == []


# ── lines ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_lines_come_with_the_second_loss_and_the_mode_is_left_as_it_was() -> None:
    with hooked(backward) as session:
        module = net()
        for _ in range(4):
            loss_of(module).backward()
        assert not torch.is_anomaly_enabled()
        assert torch.is_anomaly_check_nan_enabled()
        assert session.audit is not None
        lines = [each["line"] for each in session.audit.of("term")]
        assert lines[0] is None
        assert lines[1][0].endswith("test_backward.py")
        assert lines[3] is None


def test_lines_are_those_that_torch_would_tell_and_its_own_stack_comes_back() -> None:
    theirs = stacks.format_stack
    with hooked(backward):
        backward.lines_wanted(True)
        ours = net()(torch.ones(2, 3)).sum().grad_fn
        assert len(ours.metadata["traceback_"]) < 10  # of pytest's own frames there are dozens
        stacks.format_stack = theirs
        full = net()(torch.ones(2, 3)).sum().grad_fn
        assert len(full.metadata["traceback_"]) > 20
        here, there = line_of(ours), line_of(full)
        assert here is not None
        assert there is not None
        assert (here[0], here[1] + 3) == there
        backward.lines_wanted(False)
    assert stacks.format_stack is theirs


def test_an_error_in_backward_reads_as_it_does_without_us(recwarn: pytest.WarningsRecorder) -> None:
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx, given):  # type: ignore[no-untyped-def]
            return given.clone()

        @staticmethod
        def backward(ctx, grad):  # type: ignore[no-untyped-def]
            raise ValueError("the user's own")

    with hooked(backward):
        backward.lines_wanted(True)
        loss = Broken.apply(torch.ones(2, requires_grad=True)).sum()
        with pytest.raises(ValueError, match="the user's own"):
            loss.backward()
        assert torch.is_anomaly_enabled()  # lines are recorded on
        backward.lines_wanted(False)
    assert not [each for each in recwarn if "Error detected" in str(each.message)]


@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled")
def test_lines_give_way_to_a_program_that_uses_anomaly_mode_itself() -> None:
    with hooked(backward):
        module = net()
        loss_of(module).backward()
        assert torch.is_anomaly_enabled()
        with torch.autograd.detect_anomaly():
            loss_of(module).backward()
            assert torch.is_anomaly_enabled()
            assert torch.is_anomaly_check_nan_enabled()
        assert not torch.is_anomaly_enabled()
        loss_of(module).backward()
        assert not torch.is_anomaly_enabled()


def test_a_warning_of_the_original_names_the_users_line(recwarn: pytest.WarningsRecorder) -> None:
    with hooked(backward):
        torch.autograd.detect_anomaly()
    (warned,) = [each for each in recwarn if "Anomaly" in str(each.message)]
    assert warned.filename == __file__


# ── sandbox ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_look_that_fails_is_listed_and_the_backward_pass_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    session = FakeSession()
    backward.install(session)
    try:
        monkeypatch.setattr(session.registry, "owners", lambda ids: 1 / 0)
        module = net()
        loss_of(module).backward()
        assert all(each.grad is not None for each in module.parameters())
        assert "ZeroDivisionError" in session.switch.broken["capture/backward"]
    finally:
        session.switch.undo()
    assert torch.autograd.backward.__code__.co_filename.endswith("torch/autograd/__init__.py")


def test_no_graph_is_kept_alive() -> None:
    with hooked(backward):
        module = net()
        made: list[int] = []
        for _ in range(2):
            activation = module(torch.ones(4, 3))
            from weakref import finalize

            finalize(activation, made.append, 1)
            loss = activation.square().mean()
            loss.backward()
            del activation, loss
        assert made == [1, 1]
