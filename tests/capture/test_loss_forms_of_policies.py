"""Forms of policy losses in which a node has several readers, or a number is added to every row."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rldebug.capture.loss_terms import Term, terms_of

ROWS = 20
given, action, advantage, returns = torch.randn(ROWS, 4), torch.arange(ROWS) % 3, torch.randn(ROWS), torch.randn(ROWS)
policy, critic = nn.Linear(4, 3), nn.Linear(4, 1)
allowed = (torch.arange(ROWS * 3).reshape(ROWS, 3) % 4 > 0) | (F.one_hot(action, 3) > 0)


def probs() -> Tensor:
    return F.softmax(policy(given), dim=-1)


def by_hand(p: Tensor) -> Tensor:
    return (p * torch.log(p + 1e-8)).sum(dim=1).mean()


@pytest.mark.parametrize(
    "entropy", [by_hand, lambda p: (p * p.log()).sum(-1).mean(), lambda p: (p.log() * p).sum() / ROWS]
)
def test_an_entropy_of_probabilities_that_are_read_twice(entropy: Callable[[Tensor], Tensor]) -> None:
    (term,) = terms_of(0.01 * entropy(probs()))
    assert (term.kind, term.rows) == ("entropy", ROWS)
    assert term.coefficient == pytest.approx(-0.01)


@pytest.mark.parametrize("value_loss", [F.mse_loss, F.smooth_l1_loss, nn.HuberLoss()])
def test_a_mean_that_is_added_to_every_row_counts_once(value_loss: Callable[[Tensor, Tensor], Tensor]) -> None:
    dist = torch.distributions.Categorical(logits=policy(given))
    logp: Tensor = dist.log_prob(action)  # type: ignore[no-untyped-call]
    rows = -logp * advantage + 0.5 * value_loss(critic(given).squeeze(-1), returns)
    found = {each.kind: each for each in terms_of(rows.mean())}
    assert found["regression"].coefficient == pytest.approx(0.5)
    assert found["regression"].scale == pytest.approx(0.5 / ROWS)
    summed = {each.kind: each for each in terms_of(rows.sum())}
    assert summed["regression"].scale == pytest.approx(0.5)
    assert found["policy"].scale == pytest.approx(-1 / ROWS)


@pytest.mark.parametrize(
    "chosen",
    [
        lambda p: (p * F.one_hot(action, 3)).sum(1),
        lambda p: (p * allowed / (p * allowed).sum(1, keepdim=True)).gather(1, action[:, None]).squeeze(1),
    ],
)
def test_probabilities_times_a_mask(chosen: Callable[[Tensor], Tensor]) -> None:
    (term,) = terms_of(-(torch.log(chosen(probs())) * advantage).mean())
    assert (term.kind, term.family) == ("policy", "categorical")
    assert term.arrays["index"].tolist() == action.tolist()


def unrolled() -> list[Term]:
    cell, head = nn.GRUCell(4, 8), nn.Linear(8, 3)
    steps, state, logits = given.reshape(5, 4, 4), torch.zeros(4, 8), []
    for each in steps:
        state = cell(each, state)
        logits.append(head(state))
    dist = torch.distributions.Categorical(logits=torch.stack(logits))
    logp: Tensor = dist.log_prob(action.reshape(5, 4))  # type: ignore[no-untyped-call]
    return terms_of(-(logp * advantage.reshape(5, 4)).mean())


def test_inputs_of_an_unrolled_network_are_in_order() -> None:
    (term,) = unrolled()
    assert torch.equal(term.inputs[0], given)


@pytest.mark.parametrize("column", [False, True], ids=["rows", "a column"])
@pytest.mark.parametrize("together", [torch.min, lambda *two: torch.stack(two, -1).min(dim=-1).values])
def test_a_ratio_that_is_clipped_as_a_logarithm(together: Callable[..., Tensor], column: bool) -> None:
    """As TorchRL does it, with an axis of one between the log-prob and the ratio."""
    dist = torch.distributions.Categorical(logits=policy(given))
    logp: Tensor = dist.log_prob(action)  # type: ignore[no-untyped-call]
    old = logp.detach() + 0.1
    change, weight = (logp - old), advantage
    if column:
        change, weight = change.unsqueeze(-1), weight.unsqueeze(-1)
    low, high = torch.tensor(0.8).log(), torch.tensor(1.2).log()
    (term,) = terms_of(-together(change.exp() * weight, change.clamp(low, high).exp() * weight).mean())
    assert (term.kind, term.op, term.nested) == ("policy", "exp-ratio", "min")
    assert term.clip == pytest.approx((0.8, 1.2))
    assert term.arrays["logp"] == pytest.approx(logp.detach().numpy(), abs=1e-5)
    assert term.arrays["logp_old"] == pytest.approx(old.numpy(), abs=1e-5)


def test_a_bound_that_keeps_a_ratio_finite_is_no_clip() -> None:
    dist = torch.distributions.Categorical(logits=policy(given))
    logp: Tensor = dist.log_prob(action)  # type: ignore[no-untyped-call]
    (term,) = terms_of(-((logp - logp.detach()).clamp(-20, 20).exp() * advantage).mean())
    assert (term.kind, term.clip) == ("policy", None)


@pytest.mark.parametrize(
    ("table", "zeroed"),
    [
        (lambda: (policy(given) * allowed).log_softmax(-1), True),
        (lambda: torch.distributions.Categorical(logits=policy(given) * allowed.float()).logits, True),
        (lambda: policy(given).masked_fill(~allowed, -1e9).log_softmax(-1), False),
        (lambda: (policy(given) * allowed + (~allowed) * -1e9).log_softmax(-1), False),
        (lambda: (policy(given) * 0.5).log_softmax(-1), False),
    ],
)
def test_scores_that_a_mask_is_multiplied_into(table: Callable[[], Tensor], zeroed: bool) -> None:
    logp = table().gather(1, action[:, None])[:, 0]
    (term,) = terms_of(-(logp * advantage).mean())
    assert (term.kind, term.zeroed) == ("policy", zeroed)


@pytest.mark.parametrize("backwards", [False, True])
def test_steps_of_a_recurrent_network_that_are_added_up_by_hand(backwards: bool) -> None:
    cell, state = nn.LSTMCell(4, 8), (torch.zeros(1, 8), torch.zeros(1, 8))
    head, worth = nn.Linear(8, 3), nn.Linear(8, 1)
    turns = []
    for row, taken in zip(given, action, strict=True):
        state = cell(row[None], state)
        table = head(state[0]).log_softmax(-1)
        turns.append((table[0, taken], -(table.exp() * table).sum(), worth(state[0]).squeeze(), row))
    loss: Tensor | float = 0.0
    entropy: Tensor | float = 0.0
    order = turns[::-1] if backwards else turns
    for logp, each, value, row in order:
        loss = loss - logp * (row.sum() - value).detach() + 0.5 * (row.sum() - value) ** 2
        entropy = entropy + each
    found = terms_of((loss - 0.01 * entropy) / ROWS)
    terms = {term.kind: term for term in found}
    assert terms["policy"].rows == terms["regression"].rows == ROWS
    assert sum(term.rows for term in found if term.kind == "entropy") == ROWS  # the first stands on a plain 0
    wanted = torch.stack([row for *_, row in order])
    for kind in ("policy", "regression"):
        assert any(torch.equal(each, wanted) for each in terms[kind].inputs)


@pytest.mark.parametrize(
    ("logp", "across"),
    [
        (lambda: F.log_softmax(policy(given), dim=0)[torch.arange(ROWS), action], True),
        (lambda: F.softmax(policy(given), dim=0).gather(1, action[:, None]).log()[:, 0], True),
        (lambda: F.log_softmax(policy(given), dim=1)[torch.arange(ROWS), action], False),
        (lambda: F.log_softmax(policy(given).T, dim=0)[action, torch.arange(ROWS)], False),
        (lambda: F.log_softmax(policy(given).T, dim=0).gather(0, action[None])[0], False),
    ],
)
def test_the_axis_of_the_softmax(logp: Callable[[], Tensor], across: bool) -> None:
    (term,) = terms_of(-(logp() * advantage).mean())
    assert (term.kind, term.across) == ("policy", across)
