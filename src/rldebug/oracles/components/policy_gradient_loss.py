"""The loss of REINFORCE, vanilla policy gradient and A2C."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from rldebug.oracles.material.policies import (
    ADVANTAGE,
    LOGP,
    MASK,
    RAISED,
    RETURN_NAMES,
    TWO_CHOICE,
    logits_of_two,
    maximised,
    needs_mask,
    reduced,
    two_actions,
)
from rldebug.oracles.oracle import Case, Mistake, Oracle, Output, Quantity, Style, Values, flags, floats


def reference(case: Case) -> Values:
    count = float(case["mask"].sum())
    loss, slopes = 0.0, []
    for logp, advantage, counts in zip(case["logp"], case["advantage"], case["mask"], strict=True):
        loss -= logp * advantage * counts / count
        slopes.append(-advantage * counts / count)
    return {"loss": np.asarray(loss), "grad:logp": np.asarray(slopes), "grad:value": None}


def variant(
    case: Case,
    *,
    reduce: str = "mean",  # style: mean, sum, none
    objective: bool = False,  # style: to be maximised
    normalised: str = "",  # style: advantages are normalised first, by which standard deviation
    sign: float = 1.0,
    detached: bool = False,
    live: bool = False,  # the gradient goes through the values too
    mixed: str = "",  # mean, sum: log-probabilities are reduced before they are multiplied
    probability: bool = False,  # in place of its log
    raw: bool = False,  # the logit in place of the log
    baseline: float = 1.0,
    power: float = 1.0,  # of the advantage
    order: str = "",  # reversed, next, before
    masked: str = "right",  # right, ignored, divided by all
    only: str = "",  # positive
) -> Values:
    logp = torch.tensor(case["logp"], requires_grad=True)
    value = torch.tensor(case["value"], requires_grad=True)
    returns = torch.tensor(case["advantage"] + case["value"])
    advantage = returns - baseline * (value if live else value.detach())
    if normalised:
        advantage = _scaled(advantage, normalised)
    if only:
        advantage = advantage.clamp_min(0.0)
    advantage = advantage * advantage.abs() ** (power - 1.0) if power != 1.0 else advantage
    if order:
        advantage = {
            "reversed": lambda: advantage.flip(0),
            "next": lambda: advantage.roll(-1),
            "before": lambda: advantage.roll(1),
        }[order]()
    weighed = logp.detach() if detached else logp
    weighed = weighed.exp() if probability else weighed + RAISED["logp"] if raw else weighed
    if mixed:
        weighed = (weighed.mean() if mixed == "mean" else weighed.sum()).expand_as(advantage)
    mask = torch.tensor(case["mask"].astype(np.float64))
    rows = -sign * (-1.0 if objective else 1.0) * weighed * advantage
    rows = rows * mask if masked == "divided by all" else rows
    loss = reduced(rows, reduce, mask if masked == "right" else None)
    slopes: tuple[torch.Tensor | None, ...] = (None, None)
    if loss.requires_grad:
        slopes = torch.autograd.grad(loss.sum(), [logp, value], allow_unused=True)
    by_logp, by_value = (None if each is None else each.numpy() for each in slopes)
    return {"loss": loss.detach().numpy(), "grad:logp": by_logp, "grad:value": by_value}


def _scaled(advantage: torch.Tensor, how: str) -> torch.Tensor:
    if len(advantage) < 2 and how == "n-1":
        return advantage * torch.nan
    return (advantage - advantage.mean()) / (advantage.std(unbiased=how == "n-1") + 1e-8)


def _case(name: str, logp: Any, advantage: Any, mask: Any = None) -> Case:
    rows = len(logp)
    return Case(
        name,
        {
            "logp": floats(logp),
            "advantage": floats(advantage),
            "value": 1.5 + 0.5 * np.arange(rows),
            "mask": np.ones(rows, dtype=bool) if mask is None else flags(mask),
        },
    )


def cases() -> list[Case]:
    return [
        _case("one row", [-0.5], [2]),
        _case("one row, worse than expected", [-2], [-3]),
        _case("two rows", [-1, -2], [2, 3]),
        _case("two rows, one worse than expected", [-0.5, -2], [2, -3]),
        _case("three rows", [-1, -2, -0.5], [1, -2, 4]),
        _case("four rows", [-0.25, -1, -3, -0.5], [3, 1, -2, 5]),
        _case("four rows, two of which do not count", [-0.25, -1, -3, -0.5], [3, 1, -2, 5], mask=[1, 0, 1, 0]),
    ]


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    rows = draw(st.integers(2, 5))
    halves = st.integers(-8, -1).map(lambda n: n / 2)
    whole = st.lists(st.integers(-4, 4), min_size=rows, max_size=rows).filter(lambda a: len(set(a)) > 1)
    return _case("drawn at random", draw(st.lists(halves, min_size=rows, max_size=rows)), draw(whole))


_PLAIN = (
    Style("usual"),
    Style("sum over the rows", {"reduce": "sum"}),
    Style("one number for each row", {"reduce": "none"}),
    Style("advantages normalised inside, ÷(N−1)", {"normalised": "n-1"}),
    Style("advantages normalised inside, ÷N", {"normalised": "n"}),
    Style("advantages normalised inside, ÷(N−1), sum over the rows", {"normalised": "n-1", "reduce": "sum"}),
    Style("advantages normalised inside, ÷N, sum over the rows", {"normalised": "n", "reduce": "sum"}),
)

POLICY_GRADIENT_LOSS = Oracle(
    name="policy-gradient-loss",
    aliases="a2c-loss vpg-loss reinforce-loss pg-loss actor-loss reinforce policy-loss",
    code="POL120",
    summary="The policy-gradient loss: each log-probability times its own advantage, which carries no gradient.",
    formula="L = −mean(log π(a|s) A),  no gradient through A",
    example="def policy_gradient_loss(log_probs, advantages)",
    references="Williams, *Simple statistical gradient-following algorithms for connectionist reinforcement learning*.",
    quantities=(
        LOGP,
        ADVANTAGE,
        Quantity("advantage", RETURN_NAMES, "N", without=("value",), meaning="what the action is weighed by"),
        Quantity("return", RETURN_NAMES, "N", of=lambda case: case["advantage"] + case["value"], with_=("value",),
                 meaning="return from the step on"),
        Quantity("value", "values value baseline baselines b v vs state_values state_value vals val value_preds vpred "
                 "v_s critic_values", "N", meaning="V(s)"),
        MASK,
        Quantity("logits", "logits policy_logits action_logits pi_logits preds", "NA", of=logits_of_two("logp"),
                 with_=("choice",), meaning="logits"),
        Quantity("probs", "probs action_probs pi probabilities policy prob", "NA", of=two_actions("logp"),
                 with_=("choice",), meaning="all probabilities"),
        TWO_CHOICE,
    ),
    outputs=(
        Output("loss", "loss policy_loss pg_loss actor_loss loss_pi pi_loss action_loss loss_policy loss_actor "
               "policy_gradient_loss", "N"),
    ),
    required=("logp|logits|probs", "advantage|return"),
    gradients=("logp", "value"),
    columns=("logp", "advantage", "value", "mask"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=needs_mask,
    layouts=("(N,)", "(N, 1)"),
    styles=(*_PLAIN, *(maximised(each) for each in _PLAIN)),
    mistakes=(
        Mistake(
            "POL121", "policy-gradient-loss-sign-flipped", "The loss has the opposite sign.",
            knobs={"sign": -1.0},
            wrong="loss = (logp * adv).mean()",
            right="loss = -(logp * adv).mean()",
            harm="The optimizer makes good actions less likely and bad ones more likely.",
            fix="negate the mean",
            fine="Where the caller maximises it: call the function an objective then.",
        ),
        Mistake(
            "POL122", "policy-gradient-loss-without-gradient", "No gradient reaches the log-probabilities.",
            knobs={"detached": True},
            wrong="loss = -(logp.detach() * adv).mean()",
            right="loss = -(logp * adv.detach()).mean()",
            harm="The policy is not trained at all by this loss.",
            fix="detach the advantages, not the log-probabilities",
        ),
        Mistake(
            "POL123", "policy-gradient-loss-advantage-not-detached", "The gradient goes through the values too.",
            knobs={"live": True},
            wrong="adv = returns - values; loss = -(logp * adv).mean()",
            right="adv = (returns - values).detach(); loss = -(logp * adv).mean()",
            harm="The critic is trained to make the policy's loss small, which is not what it is for.",
            fix="detach the values where the advantage is computed",
            fine="Where the values that are handed over carry no gradient, as those of a rollout buffer.",
        ),
        Mistake(
            "POL124", "policy-gradient-loss-rows-mixed", "Log-probabilities are reduced before they are multiplied.",
            knobs=({"mixed": "mean"}, {"mixed": "sum"}),
            wrong="loss = -(logp.mean() * adv).sum()",
            right="loss = -(logp * adv).sum()",
            harm="Every action is credited with the mean of all advantages: there is no credit for each step.",
            fix="multiply each log-probability by its own advantage, in arrays of one shape, and reduce after that",
            seen_in="Farama-Foundation/Gymnasium#1337",
        ),
        Mistake(
            "POL125", "policy-gradient-loss-probability-for-log", "Probabilities are weighed, not their logs.",
            knobs={"probability": True},
            wrong="loss = -(logp.exp() * adv).mean()",
            right="loss = -(logp * adv).mean()",
            harm="Rare actions are hardly learned: their gradient is multiplied by their probability once more.",
            fix="use the log-probability",
        ),
        Mistake(
            "POL132", "policy-gradient-loss-logits-not-normalised", "Logits are weighed, not log-probabilities.",
            knobs={"raw": True},
            wrong="loss = -(logits.gather(1, actions[:, None])[:, 0] * adv).mean()",
            right="loss = -(logits.log_softmax(1).gather(1, actions[:, None])[:, 0] * adv).mean()",
            harm="Making an action likelier does not make the others less likely; logits grow without end.",
            fix="apply log_softmax to the logits",
        ),
        Mistake(
            "POL126", "policy-gradient-loss-baseline-missing", "The values are taken but not subtracted.",
            knobs={"baseline": 0.0},
            wrong="loss = -(logp * returns).mean()",
            right="loss = -(logp * (returns - values).detach()).mean()",
            harm="All actions look good where all returns are positive: the gradient is dominated by noise.",
            fix="subtract V(s) from the return",
        ),
        Mistake(
            "POL127", "policy-gradient-loss-advantage-squared", "The advantage is multiplied in twice.",
            knobs=({"power": 2.0},),
            wrong="loss = -(logp * adv * adv.abs()).mean()",
            right="loss = -(logp * adv).mean()",
            harm="Rare large advantages rule the update.",
            fix="multiply by the advantage once",
        ),
        Mistake(
            "POL128", "policy-gradient-loss-order-reversed", "The advantages are in the opposite order.",
            knobs={"order": "reversed"},
            wrong="for r in rewards[::-1]: returns.append(…); loss = -(logp * returns).mean()",
            right="for r in rewards[::-1]: returns.insert(0, …); loss = -(logp * returns).mean()",
            harm="The first action is credited with what the last one earned.",
            fix="turn the returns around after they were summed up backwards",
        ),
        Mistake(
            "POL129", "policy-gradient-loss-pairs-shifted", "Each action gets the advantage of its neighbour.",
            knobs=({"order": "next"}, {"order": "before"}),
            wrong="loss = -(logp * adv.roll(-1)).mean()",
            right="loss = -(logp * adv).mean()",
            harm="Each action is credited with what its neighbour earned.",
            fix="pair the log-probability of step t with the advantage of step t",
        ),
        Mistake(
            "POL130", "policy-gradient-loss-mask-ignored", "Rows that do not count are part of the mean.",
            knobs=({"masked": "ignored"}, {"masked": "divided by all"}),
            wrong="loss = -(logp * adv).mean()",
            right="loss = -(logp * adv * mask).sum() / mask.sum()",
            harm="Padding is trained on.",
            fix="multiply by the mask and divide by its sum",
        ),
        Mistake(
            "POL131", "policy-gradient-loss-negative-dropped", "Negative advantages are set to 0.",
            knobs={"only": "positive"},
            wrong="loss = -(logp * adv.clamp(min=0)).mean()",
            right="loss = -(logp * adv).mean()",
            harm="Bad actions are never made less likely.",
            fix="use the advantage as it is",
            fine="In self-imitation learning, where that is meant.",
        ),
    ),
)  # fmt: skip
