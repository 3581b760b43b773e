"""Optimizers at work: counts always, events in audits, and whether gradients were cleared."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim import SGD, Adam, Optimizer
from torch.optim.lr_scheduler import ChainedScheduler, LRScheduler, ReduceLROnPlateau, StepLR

from rldebug.capture import stepping
from tests.capture.fake_session import FakeSession, hooked

X = torch.ones(4, 3)


def cleared_by_nothing(optimizer: Optimizer, module: nn.Module) -> None:
    pass


def cleared_in_place(optimizer: Optimizer, module: nn.Module) -> None:
    optimizer.zero_grad(set_to_none=False)


def cleared_through_data(optimizer: Optimizer, module: nn.Module) -> None:
    for each in module.parameters():
        if each.grad is not None:
            each.grad.data.zero_()


def cleared_by_hand(optimizer: Optimizer, module: nn.Module) -> None:
    for each in module.parameters():
        each.grad = None


def cleared_by_module(optimizer: Optimizer, module: nn.Module) -> None:
    module.zero_grad()


def updates(clear: Callable[[Optimizer, nn.Module], None], times: int = 3, accumulate: int = 1) -> None:
    module = nn.Linear(3, 2)
    optimizer = SGD(module.parameters(), lr=0.1)
    for _ in range(times):
        clear(optimizer, module)
        for _ in range(accumulate):
            module(X).square().mean().backward()
        nn.utils.clip_grad_norm_(module.parameters(), 0.5)
        optimizer.step()


def steps(session: FakeSession) -> list[dict[str, Any]]:
    assert session.audit is not None
    return session.audit.of("step")


@pytest.mark.parametrize("clear", [cleared_in_place, cleared_through_data, cleared_by_hand, cleared_by_module])
@pytest.mark.parametrize("accumulate", [1, 3])
def test_cleared_gradients_are_seen_to_be(clear: Any, accumulate: int) -> None:
    with hooked(stepping) as session:
        updates(clear, accumulate=accumulate)
        assert [each["zeroed"] for each in steps(session)] == [None, True, True]


def test_gradients_that_are_not_cleared_are_seen() -> None:
    with hooked(stepping) as session:
        updates(cleared_by_nothing)
        assert [each["zeroed"] for each in steps(session)] == [None, False, False]
        assert steps(session)[1]["uncleared"] == [2, 2]
    (told,) = session.things.values()
    assert (told["cleared"], told["uncleared"]) == (0, 2)


def test_gradients_that_another_loss_leaves_and_that_are_cleared_later_are_no_mistake() -> None:
    """SAC: the actor's loss adds to the critic's gradients after the critic's step."""
    with hooked(stepping) as session:
        actor, critic = nn.Linear(3, 3), nn.Linear(3, 1)
        for_actor, for_critic = Adam(actor.parameters()), Adam(critic.parameters())
        for _ in range(3):
            for_critic.zero_grad()
            critic(X).square().mean().backward()
            for_critic.step()
            for_actor.zero_grad()
            critic(actor(X)).mean().backward()
            for_actor.step()
        assert {each["zeroed"] for each in steps(session)} == {None, True}


def test_what_was_followed_when_an_audit_ended_is_judged_in_the_next() -> None:
    with hooked(stepping) as session:
        module = nn.Linear(3, 2)
        optimizer = SGD(module.parameters(), lr=0.1)
        for index in range(4):
            audited = index in (0, 3)
            session.audit, kept = (session.audit, None) if audited else (None, session.audit)
            module(X).square().mean().backward()
            optimizer.step()
            if not audited:
                session.audit = kept
        assert [each["zeroed"] for each in steps(session)] == [None, False]


def test_a_step_is_measured() -> None:
    with hooked(stepping) as session:
        module = nn.Linear(3, 2)
        unused = nn.Parameter(torch.zeros(2))
        session.registry.module(module)
        optimizer = SGD([*module.parameters(), unused], lr=0.1)
        module(X).square().mean().backward()
        grads = torch.cat([each.grad.flatten() for each in module.parameters() if each.grad is not None])
        before = torch.cat([each.detach().flatten().clone() for each in module.parameters()])
        optimizer.step()
        (step,) = steps(session)
    assert step["optimizer"] == "optimizer"
    assert step["lr"] == 0.1
    assert step["grad_norm"] == pytest.approx(float(grads.norm()), rel=1e-5)
    assert step["change"] == pytest.approx(float(0.1 * grads.norm() / before.norm()), rel=1e-4)
    assert (step["without"], step["of"]) == (1, 3)
    assert step["line"][0].endswith("test_stepping.py")
    told = session.things["optimizer", "optimizer"]
    assert told["class"] == "SGD"
    assert told["missing"] == 1
    assert told["created"][0].endswith("test_stepping.py")
    assert session.updates == 1


def test_a_closure_makes_its_gradients_inside_of_the_step() -> None:
    with hooked(stepping) as session:
        module = nn.Linear(3, 2)
        optimizer = torch.optim.LBFGS(module.parameters(), max_iter=2)

        def closure() -> Tensor:
            optimizer.zero_grad()
            loss = module(X).square().mean()
            loss.backward()
            return loss

        for _ in range(2):
            optimizer.step(closure)  # type: ignore[no-untyped-call]
        first, second = steps(session)
        assert first["grad_norm"] > 0
        assert second["zeroed"] is True


def test_outside_of_audits_everything_is_counted() -> None:
    with hooked(stepping) as session:
        session.audit = None
        updates(cleared_in_place, times=5)
        never = SGD([nn.Parameter(torch.zeros(2))], lr=0.5)
        assert stepping.counts() == {"clips": 5, "module_zeros": 0}
        for finish in session.on_finish:
            finish()
        del never
    told = {each["settings"]["lr"]: each for each in session.things.values()}
    assert told[0.5]["steps"] == 0
    assert (told[0.1]["steps"], told[0.1]["zeros"], told[0.1]["clipped"]) == (5, 5, 5)
    assert session.updates == 5


class HandedOut:
    """As Lightning and Fabric hand out an optimizer: of its class, with nothing of its own."""

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer
        self.__class__ = type("HandedOut", (HandedOut, type(optimizer)), {})

    def step(self) -> None:
        self._optimizer.step()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._optimizer, name)


@pytest.mark.parametrize("audited", [True, False])
def test_an_optimizer_that_stands_for_another_is_that_one(audited: bool) -> None:
    with hooked(stepping) as session:
        if not audited:
            session.audit = None
        module = nn.Linear(3, 2)
        optimizer: Any = HandedOut(Adam(module.parameters(), lr=0.1))
        assert isinstance(optimizer, Adam)
        for _ in range(3):
            optimizer.zero_grad()
            module(X).square().mean().backward()
            optimizer.step()
        for finish in session.on_finish:
            finish()
    (told,) = session.things.values()
    assert (told["class"], told["steps"], told["zeros"]) == ("Adam", 3, 3)


def test_a_step_without_a_backward_pass_is_idle() -> None:
    with hooked(stepping) as session:
        module = nn.Linear(3, 2)
        optimizer = SGD(module.parameters(), lr=0.01)
        module(X).sum().backward()
        optimizer.step()
        optimizer.step()
        gradients = torch.autograd.grad(module(X).sum(), list(module.parameters()))
        for parameter, gradient in zip(module.parameters(), gradients, strict=True):
            parameter.grad = gradient
        optimizer.step()
        for finish in session.on_finish:
            finish()
        assert session.things["optimizer", "optimizer"]["idle"] == 1


# ── clipping ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("late", [False, True])
def test_clipping_after_the_step_is_told_apart(late: bool) -> None:
    with hooked(stepping) as session:
        module = nn.Linear(3, 2)
        optimizer = SGD(module.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            module(X).square().sum().backward()
            if not late:
                norm = nn.utils.clip_grad_norm_(module.parameters(), 0.5)
            optimizer.step()
            if late:
                norm = nn.utils.clip_grad_norm_(module.parameters(), 0.5)
        assert session.audit is not None
        clips = session.audit.of("clip")
        assert [each["after_step"] for each in clips] == ([True] * 3 if late else [None, False, False])
        assert clips[-1]["norm"] == pytest.approx(float(norm))
        assert clips[-1]["limit"] == 0.5
        assert [each["clipped"] for each in steps(session)] == ([False, True, True] if late else [True] * 3)


def test_clipping_by_value_and_by_a_given_norm() -> None:
    with hooked(stepping) as session:
        parameter = nn.Parameter(torch.ones(4))
        (3 * parameter).sum().backward()
        nn.utils.clip_grad_value_([parameter], clip_value=1.0)
        assert parameter.grad is not None
        assert parameter.grad.tolist() == [1.0] * 4
        assert session.audit is not None
        (clip,) = session.audit.of("clip")
        assert (clip["how"], clip["limit"], clip["norm"]) == ("value", 1.0, pytest.approx(6.0))


def test_an_empty_generator_is_warned_about_in_the_users_line() -> None:
    with hooked(stepping), pytest.warns(UserWarning, match="empty generator") as warned:
        nn.utils.clip_grad_norm_((each for each in ()), 1.0)
    assert warned[0].filename == __file__


# ── schedules ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_schedule_is_told_once_for_each_step_of_the_outermost() -> None:
    with hooked(stepping) as session:
        optimizer = SGD([nn.Parameter(torch.zeros(2))], lr=1.0)
        schedule = ChainedScheduler([StepLR(optimizer, 1, gamma=0.5), StepLR(optimizer, 1, gamma=0.1)])
        plateau = ReduceLROnPlateau(optimizer)
        optimizer.step()
        schedule.step()
        plateau.step(1.0)
        assert session.audit is not None
        chained, flat = session.audit.of("schedule")
        assert (chained["before"], chained["after"]) == (1.0, pytest.approx(0.05))
        assert chained["scheduler"] == "ChainedScheduler"
        assert flat["before"] == flat["after"]
        for finish in session.on_finish:
            finish()
        assert session.things["optimizer", "optimizer"]["schedules"] == 2


def test_a_schedule_of_the_users_own_is_told_and_warnings_name_the_users_line() -> None:
    with hooked(stepping) as session:

        class Halved(LRScheduler):
            def get_lr(self) -> list[float | Tensor]:
                return [group["lr"] / 2 for group in self.optimizer.param_groups]

            def step(self, epoch: int | None = None) -> None:
                super().step(epoch)

        optimizer = SGD([nn.Parameter(torch.zeros(2))], lr=1.0)
        schedule = Halved(optimizer)
        optimizer.step()
        schedule.step()
        assert session.audit is not None
        assert len(session.audit.of("schedule")) == 1
        late = SGD([nn.Parameter(torch.zeros(2))], lr=1.0)
        with pytest.warns(UserWarning, match="before `optimizer.step") as warned:
            StepLR(late, 1).step()
        assert warned[0].filename == __file__


# ── nothing is changed ──────────────────────────────────────────────────────────────────────────────────────────────


def test_optimizers_and_modules_can_be_copied_and_pickled() -> None:
    with hooked(stepping):
        module = nn.Linear(3, 2)
        optimizer = Adam(module.parameters())
        module(X).sum().backward()
        optimizer.step()
        again = pickle.loads(pickle.dumps((module, optimizer)))
        copy.deepcopy((module, optimizer))
    assert again[1].state_dict()["param_groups"] == optimizer.state_dict()["param_groups"]
    assert not [each for each in vars(module) if "rldebug" in each]


def test_everything_is_put_back() -> None:
    before = (Optimizer.zero_grad, nn.Module.zero_grad, StepLR.step, nn.utils.clip_grad_norm_, torch.autograd.backward)
    with hooked(stepping):
        assert nn.utils.clip_grad_norm_ is nn.utils.clip_grad.clip_grad_norm_
        assert nn.utils.clip_grad_norm_ is not before[3]
    after = (Optimizer.zero_grad, nn.Module.zero_grad, StepLR.step, nn.utils.clip_grad_norm_, torch.autograd.backward)
    assert after == before
    assert not sys.modules["torch.optim.optimizer"]._global_optimizer_pre_hooks
