"""Weights that move other than by an optimizer: seen, attributed, and told from training."""

from __future__ import annotations

import copy
import hashlib
import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim import Adam

from rldebug.capture import backward, copies, distributions, stepping
from tests.capture.fake_session import FakeSession, hooked

X = torch.linspace(-1, 1, 12).reshape(4, 3)


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def polyak(target: nn.Module, source: nn.Module, tau: float) -> None:
    for into, out_of in zip(target.parameters(), source.parameters(), strict=True):
        into.data.mul_(1 - tau).add_(tau * out_of.data)


def train(online: nn.Module, optimizer: Adam) -> None:
    optimizer.zero_grad()
    online(X).square().mean().backward()
    optimizer.step()


def told(session: FakeSession, kind: str) -> list[dict[str, Any]]:
    assert session.audit is not None
    return session.audit.of(kind)


def pair(session: FakeSession) -> tuple[nn.Module, nn.Module, Adam]:
    online = net()
    target = copy.deepcopy(online)
    session.registry.module(online)
    session.registry.module(target)
    return online, target, Adam(online.parameters(), 1e-2)


@pytest.mark.parametrize("tau", [0.005, 0.5, 1.0])
@pytest.mark.parametrize("every", [1, 2])
def test_a_soft_update_in_place_is_seen_with_its_rate(tau: float, every: int) -> None:
    with hooked(copies) as session:
        online, target, optimizer = pair(session)
        for index in range(4):
            train(online, optimizer)
            if index % every == every - 1:
                polyak(target, online, tau)
        names = (session.registry.module(target), session.registry.module(online))
        audit = session.end_audit()
        seen = audit.of("copy")
        assert len(seen) == 4 // every
        for each in seen:
            assert (each["module"], each["source"]) == names
            assert each["how"] == "in place"
            assert each["tau"] == pytest.approx(tau, rel=0.02)
        weights = {each["module"]: each for each in audit.of("weights")}
        assert weights[names[0]]["trained"] is False
        assert weights[names[1]]["trained"] is True
        assert [each["by_hand"] for each in weights.values()] == [0, 0]
        assert session.things["copy", f"{names[0]}<-{names[1]}:in place"]["times"] == 4 // every


def test_each_of_two_soft_updates_within_one_step_is_seen() -> None:
    with hooked(backward, copies) as session:
        online, target, optimizer = pair(session)
        train(online, optimizer)
        optimizer.zero_grad()
        for _ in range(2):
            online(X).square().mean().backward()
            polyak(target, online, 0.1)
        optimizer.step()
        seen = [each for each in told(session, "copy") if each["module"] == session.registry.module(target)]
    assert [round(each["tau"], 3) for each in seen] == [0.1, 0.1]


def test_the_wrong_direction_is_seen_as_such() -> None:
    with hooked(copies) as session:
        online, target, optimizer = pair(session)
        for _ in range(3):
            train(online, optimizer)
            polyak(online, target, 0.1)
        audit = session.end_audit()
        assert {(each["module"], each["source"]) for each in audit.of("copy")} == {
            (session.registry.module(online), session.registry.module(target))
        }


def test_training_alone_is_no_copy_and_no_work_of_hands() -> None:
    with hooked(stepping, copies) as session:
        online, target, optimizer = pair(session)
        for _ in range(20):
            train(online, optimizer)
        first = session.end_audit()
        train(online, optimizer)
        second = session.end_audit()
        assert first.of("copy") == second.of("copy") == []
        assert [each["by_hand"] for each in [*first.of("weights"), *second.of("weights")]] == [0] * 4
        trained, frozen = second.of("weights")
        assert trained["change"] > 0
        assert frozen["change"] == 0.0
        assert trained["since"] == 1
        assert trained["distance"][session.registry.module(target)] > 0


def test_steps_between_audits_count_as_training() -> None:
    with hooked(copies) as session:
        online, _, optimizer = pair(session)
        session.registry.optimizer(optimizer)
        session.end_audit()
        audit, session.audit = session.audit, None
        train(online, optimizer)
        session.audit = audit
        trained, _ = session.end_audit().of("weights")
        assert trained["trained"] is True


def test_a_step_written_by_hand_is_no_copy() -> None:
    with hooked(copies) as session:
        online, _, optimizer = pair(session)
        other = net()
        session.registry.module(other)
        for _ in range(3):
            train(online, optimizer)
            grads = torch.autograd.grad(other(X).square().mean(), list(other.parameters()))
            with torch.no_grad():
                for parameter, grad in zip(other.parameters(), grads, strict=True):
                    parameter -= 0.1 * grad
        audit = session.end_audit()
        by_hand = {each["module"]: (each["by_hand"], each["trained"]) for each in audit.of("weights")}
        assert by_hand[session.registry.module(other)] == (3, False)
        assert audit.of("copy") == []


def test_a_network_that_holds_its_target_is_not_stepped_by_hand() -> None:
    with hooked(copies) as session:
        agent = nn.ModuleDict({"online": net(), "target": net()})
        for each in (agent, agent["online"], agent["target"]):
            session.registry.module(each)
        optimizer = Adam(agent["online"].parameters(), 1e-2)
        for _ in range(3):
            train(agent["online"], optimizer)
            polyak(agent["target"], agent["online"], 0.1)
        audit = session.end_audit()
        assert [each["by_hand"] for each in audit.of("weights")] == [0, 0, 0]
        assert {each["module"] for each in audit.of("copy")} == {session.registry.module(agent["target"])}


@pytest.mark.parametrize(
    "state",
    [
        lambda online: online.state_dict(),
        lambda online: copy.deepcopy(online.state_dict()),
        lambda online: {key: each.clone() for key, each in online.state_dict().items()},
    ],
)
def test_the_source_of_what_is_loaded_is_found(state: Callable[[nn.Module], Any]) -> None:
    with hooked(copies) as session:
        online, target, optimizer = pair(session)
        train(online, optimizer)
        target.load_state_dict(state(online))
        (seen,) = told(session, "copy")
        assert (seen["module"], seen["source"]) == (session.registry.module(target), session.registry.module(online))
        assert seen["how"] == "load_state_dict"
        assert seen["line"][0].endswith("test_copies.py")
        assert [kind for kind, _ in session.notes] == ["load"]
        session.end_audit()


def test_the_source_of_a_load_is_found_when_it_is_first_called_later() -> None:
    with hooked(copies) as session:
        online, target = net(), net()
        target.load_state_dict(online.state_dict())
        from_a_file = net()
        from_a_file.load_state_dict({key: each.clone() for key, each in net().state_dict().items()})
        name = session.registry.module(online)
        session.end_audit()
        sources = {each["module"]: each["source"] for (kind, _), each in session.things.items() if kind == "copy"}
        assert sources == {session.registry.module(target): name, session.registry.module(from_a_file): None}


def test_a_mixture_that_is_loaded_gives_its_rate() -> None:
    with hooked(copies) as session:
        online, target, optimizer = pair(session)
        train(online, optimizer)
        ours, theirs = target.state_dict(), online.state_dict()
        target.load_state_dict({key: 0.9 * ours[key] + 0.1 * theirs[key] for key in ours})
        (seen,) = told(session, "copy")
        assert seen["source"] == session.registry.module(online)
        assert seen["tau"] == pytest.approx(0.1, rel=1e-2)
        assert len(session.end_audit().of("copy")) == 1


def test_loads_outside_of_audits_are_counted() -> None:
    with hooked(copies) as session:
        online, target, _ = pair(session)
        session.audit = None
        for _ in range(5):
            target.load_state_dict(online.state_dict())
        for finish in session.on_finish:
            finish()
        ((_, thing),) = session.things.items()
        assert (thing["times"], thing["source"]) == (5, session.registry.module(online))
        assert len(session.notes) == 1


def test_mixtures_that_are_loaded_later_are_not_copies_of_the_network_that_was_loaded_first() -> None:
    with hooked(copies) as session:
        online, target = net(), net()
        target.load_state_dict(online.state_dict())  # before anything is called: nobody knows the network yet
        names = session.registry.module(target), session.registry.module(online)
        audit = session.end_audit()
        session.audit = None
        for _ in range(5):
            train(online, Adam(online.parameters(), 1e-2))
            ours, theirs = target.state_dict(), online.state_dict()
            target.load_state_dict({key: 0.9 * ours[key] + 0.1 * theirs[key] for key in ours})
        session.audit = audit
        session.end_audit()
        times = {(each["module"], each["source"]): each["times"] for _, each in session.things.items()}
        assert times == {names: 1, (names[0], None): 5}


def test_what_load_state_dict_raises_is_passed_on() -> None:
    with hooked(copies) as session:
        _, target, _ = pair(session)
        with pytest.raises(RuntimeError, match="Missing key"):
            target.load_state_dict({})
        result = target.load_state_dict({}, strict=False)
        assert len(result.missing_keys) == 4


def test_networks_that_share_their_weights_are_not_copies() -> None:
    with hooked(copies) as session:
        online, _, optimizer = pair(session)
        view = nn.Sequential(*online)
        name = session.registry.module(view)
        train(online, optimizer)
        train(online, optimizer)
        audit = session.end_audit()
        assert audit.of("copy") == []
        shares = {each["module"]: each["shares"] for each in audit.of("weights")}
        assert shares[name] == [session.registry.module(online)]


# ── nothing is changed ──────────────────────────────────────────────────────────────────────────────────────────────


def dqn() -> list[str]:
    """A small DQN and a small actor-critic; the weights at every step, and what the generators give next."""
    torch.manual_seed(3)
    np.random.seed(3)
    random.seed(3)
    online = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 2))
    target = copy.deepcopy(online)
    actor = nn.Linear(3, 4)
    optimizer = Adam([*online.parameters(), *actor.parameters()], 1e-2)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5, 0.5)
    digests = []
    for index in range(12):
        x, following = torch.randn(8, 3), torch.randn(8, 3)
        action = torch.multinomial(torch.softmax(online(x).detach(), 1), 1)
        with torch.no_grad():
            aim = torch.rand(8) + 0.9 * target(following).max(1).values
        mean, log_std = actor(x).chunk(2, dim=1)
        dist = torch.distributions.Independent(torch.distributions.Normal(mean, log_std.exp()), 1)
        taken = dist.sample()
        loss = F.smooth_l1_loss(online(x).gather(1, action).squeeze(1), aim)
        loss = loss - (dist.log_prob(taken) * torch.randn(8)).mean() - 0.01 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([*online.parameters(), *actor.parameters()], 0.5)
        optimizer.step()
        schedule.step()
        polyak(target, online, 0.05)
        if index % 5 == 4:
            target.load_state_dict(online.state_dict())
        weights = torch.cat([each.detach().flatten() for part in (online, target, actor) for each in part.parameters()])
        digests.append(hashlib.sha256(weights.numpy().tobytes()).hexdigest())
    digests.append(str((torch.rand(3).tolist(), np.random.rand(), random.random())))
    return digests


@pytest.mark.parametrize("files", [(copies,), (distributions, backward, stepping, copies)])
def test_a_program_runs_bit_by_bit_as_without_us(files: tuple[ModuleType, ...]) -> None:
    alone = dqn()
    with hooked(*files) as session:
        watched = dqn()
        session.end_audit()
    assert watched == alone
    assert not torch.is_anomaly_enabled()
