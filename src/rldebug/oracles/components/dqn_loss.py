"""The loss of Q-learning: the prediction for the action taken beside the target, and where its gradient goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from rldebug.oracles.components import dqn_target
from rldebug.oracles.material.q_tables import (
    ACTION,
    NETWORKS,
    NEXT_Q,
    OBSERVATIONS,
    NoOptimizer,
    cases,
    completed,
    drawn,
    forward_of,
    observed,
    remarks,
    told,
)
from rldebug.oracles.material.replayed import FLAGS, GAMMA_NAME, N_STEPS, REWARD, fair, mask_of, outcomes
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Quantity, Style, Values


def reference(case: Case) -> Values:
    """The mean of squared errors, and its slope for each entry of the online table."""
    target = dqn_target.reference(case)["target"]
    count = len(target)
    here, following = np.zeros_like(case["q"]), np.zeros_like(case["q"])
    loss = 0.0
    for i in range(count):
        error = case["q"][i, case["action"][i]] - target[i]
        loss += case["weight"][i] * error**2 / count
        here[i, case["action"][i]] = case["weight"][i] * 2.0 * error / count
    return {"loss": np.asarray(loss), "online_gradient": np.concatenate([here, following]), "grad:q": here}


def variant(
    case: Case,
    *,
    double: bool = False,
    kind: str = "squared",  # squared, half, huber, smaller-huber, absolute, signed
    reduction: str = "mean",  # mean, sum, none
    predicted: str = "taken",  # taken, max, all
    predicted_by: str = "online",  # online, target, nobody: without gradient
    leak: bool = False,  # the gradient runs through the target
    crossed: bool = False,  # (N, 1) beside (N,)
    weighted: str = "each",  # each, not, after
    sign: float = 1.0,
    averaged_first: bool = False,  # the mean of the errors is squared
    **of_target: Any,
) -> Values:
    target = dqn_target.variant(case, double=double, **of_target)["target"]
    count, actions = case["q"].shape
    row, taken = np.arange(count), case["action"]
    crossed = crossed and predicted != "all"
    table = case["q_of_target"] if predicted_by == "target" else case["q"]
    at = taken if predicted == "taken" else table.argmax(axis=1)
    guess = table if predicted == "all" else table[row, at]
    apart = target[:, None] if predicted == "all" else target
    error = guess[:, None] - target[None, :] if crossed else guess - apart
    if averaged_first:
        error = np.full_like(error, error.mean())
    loss, slope = _each(error, kind)
    if weighted == "each":
        weight = case["weight"] if loss.ndim == 1 or crossed else case["weight"][:, None]
        loss, slope = loss * weight, slope * weight
    if reduction != "none":
        slope = slope / loss.size if reduction == "mean" else slope
        loss = np.asarray(loss.mean() if reduction == "mean" else loss.sum())
    if weighted == "after":
        factor = case["weight"].mean() if reduction == "mean" else case["weight"].sum()
        loss, slope = loss * factor, slope * factor
    loss, slope = sign * loss, sign * slope
    here, following = np.zeros((count, actions)), np.zeros((count, actions))
    if predicted_by == "online":
        if predicted == "all":
            here = slope
        else:
            here[row, at] = slope.sum(axis=1) if crossed else slope.sum() if count == 1 else slope
    if leak:
        each = (
            slope.sum()
            if count == 1
            else slope.sum(axis=0)
            if crossed
            else slope.sum(axis=1)
            if slope.ndim == 2
            else slope
        )
        following[row, case["next_q_online"].argmax(axis=1)] = -each * _discount(case, of_target)
    return {"loss": loss, "online_gradient": np.concatenate([here, following]), "grad:q": here}


def _discount(case: Case, of_target: Mapping[str, Any]) -> Array:
    power = {0: 0, 1: case["n"], 2: case["n"] + 1}[of_target.get("gamma_power", 1)]
    return np.asarray(case["gamma"] ** power * mask_of(case, of_target.get("mask", "terminated")))


def _each(error: Array, kind: str) -> tuple[Array, Array]:
    """The loss for each error, and its slope."""
    size = np.abs(error)
    if kind == "huber":
        return np.where(size < 1.0, 0.5 * error**2, size - 0.5), np.clip(error, -1.0, 1.0)
    factor = 0.5 if kind == "half" else 1.0
    if kind in ("squared", "half"):
        return factor * error**2, 2.0 * factor * error
    return (size, np.sign(error)) if kind == "absolute" else (error, np.ones_like(error))


def observe(inputs: Mapping[str, Any], returned: Any) -> Values | None:
    return observed(inputs.get("q_net"), returned)


def _remarks(bound: frozenset[str]) -> list[str]:
    said = remarks(bound)
    if {"q", "next_q"} <= bound:
        said.append("whether its target carries gradient is not judged: hand over next_q without gradient")
    return said


def rebuild(given: Mapping[str, Any]) -> Case:
    return completed(given, outcomes(given))


_KINDS = {"squared": "squared errors", "half": "½ squared errors", "huber": "Huber", "absolute": "absolute errors"}
_REDUCTIONS = {"mean": "mean", "sum": "sum", "none": "one for each row"}


def _styles() -> tuple[Style, ...]:
    made = []
    for reduction, kind in [(r, k) for r in _REDUCTIONS for k in _KINDS if r == "mean" or k != "absolute"]:
        knobs = {"kind": kind, "reduction": reduction}
        name = f"{_REDUCTIONS[reduction]} of {_KINDS[kind]}"
        made.append(Style(name, knobs, unless="double ddqn"))
        made.append(Style(f"double, {name}", {**knobs, "double": True}))
    return tuple(made)


_RIGHT = "loss = F.mse_loss(q_net(obs).gather(1, actions), target)"
_TARGET = "target = r + gamma * (1 - done) * target_net(next_obs).max(1).values"

DQN_LOSS = Oracle(
    name="dqn-loss",
    aliases="td-loss-dqn q-loss q-learning-loss dqn-td-loss double-dqn-loss ddqn-loss",
    code="VAL130",
    summary="The loss of Q-learning: Q(s, a) beside a target that carries no gradient.",
    formula="L = mean (Q(s, a) − y)²,  y = r + γⁿ (1 − terminated) max Q_target(s′, ·) held fixed",
    example="def dqn_loss(q_net, target_net, obs, actions, rewards, next_obs, dones, gamma)",
    references="Mnih and others, *Human-level control through deep reinforcement learning*.",
    quantities=(
        REWARD, *NEXT_Q, ACTION, *FLAGS, *NETWORKS, *OBSERVATIONS, GAMMA_NAME, N_STEPS,
        Quantity("q", "q qs q_values q_value q_vals q_pred q_preds current_q current_qs q_s q_tm1 q_current "
                 "q_values_current predicted_q qvals predictions state_action_values", "NA", meaning="Q(s, ·)"),
        Quantity("weight", "weight weights is_weights importance_weights importance_sampling_weights isw w "
                 "per_weights is_weight", "N", meaning="weight of the row, from prioritised replay"),
        Quantity("optimizer", "optimizer optim opt optimiser q_optimizer adam", None, "object",
                 of=lambda case: NoOptimizer(), meaning="an optimizer that does nothing"),
        Quantity("criterion", "criterion loss_fn loss_func loss_function mse mse_loss loss_criterion", None, "object",
                 of=lambda case: torch.nn.MSELoss(), meaning="torch.nn.MSELoss()"),
    ),
    outputs=(
        Output("loss", "loss losses td_loss q_loss critic_loss qf_loss elementwise_loss value_loss dqn_loss", "N"),
        Output("online_gradient", "online_gradient", "DA"),
    ),
    required=("reward", "next_q|next_q_online|next_best_q|target_net|q_net", "q|q_net"),
    columns=("action", "reward", "terminated", "truncated", "q", "next_q", "next_q_online", "weight"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=fair,
    told=told,
    remarks=_remarks,
    rebuild=rebuild,
    adapt=forward_of,
    observe=observe,
    gradients=("q",),
    styles=_styles(),
    mistakes=(
        Mistake(
            "VAL131", "dqn-loss-mask-missing", "The value after a terminal step is added, as if the episode went on.",
            knobs={"mask": "nothing"},
            wrong="target = r + gamma * target_net(next_obs).max(1).values",
            right=_TARGET,
            harm="A state that ends the episode is worth what the next episode begins with; values grow without end.",
            fix="multiply the bootstrap by 1 − terminated",
            seen_in="FlowSs/RLMutation, operator MTS",
        ),
        Mistake(
            "VAL132", "dqn-loss-mask-inverted", "The bootstrap is added where the episode ended, and only there.",
            knobs=({"mask": "inverted"}, {"mask": "inverted-done"}),
            wrong="target = r + gamma * done * target_net(next_obs).max(1).values",
            right=_TARGET,
            harm="Nothing is carried from one state to the one before it.",
            fix="multiply by 1 − terminated, not by terminated",
        ),
        Mistake(
            "VAL133", "dqn-loss-truncation-as-termination", "A time limit counts as an end: nothing is bootstrapped.",
            knobs={"mask": "done"},
            wrong="target = r + gamma * (1 - (terminated | truncated)) * next_q",
            right="target = r + gamma * (1 - terminated) * next_q",
            harm="States met near the time limit are worth less than they are, by chance of when they were met.",
            fix="mask with terminated alone",
            fine="Where the time left is part of the observation.",
        ),
        Mistake(
            "VAL145", "dqn-loss-target-not-detached", "The gradient also runs through the target.",
            knobs=({"leak": True}, {"leak": True, "choose": "online", "values": "online"}),
            wrong="target = r + gamma * q_net(next_obs).max(1).values",
            right="with torch.no_grad(): target = r + gamma * target_net(next_obs).max(1).values",
            harm="The loss is lowered by making the next state worse as well: learning is slow and biased.",
            fix="compute the target under torch.no_grad()",
            fine="For residual-gradient methods.",
            seen_in="pytorch/rl PR #322",
        ),
        Mistake(
            "VAL146", "dqn-loss-online-target", "The target comes from the online network, not from the target one.",
            knobs={"choose": "online", "values": "online"},
            wrong="next_q = q_net(next_obs).max(1).values.detach()",
            right="next_q = target_net(next_obs).max(1).values.detach()",
            harm="The target moves with every update that chases it: values oscillate or run away.",
            fix="evaluate the next state with the target network",
            fine="For methods that do without a target network on purpose.",
        ),
        Mistake(
            "VAL147", "dqn-loss-networks-swapped", "The target network predicts, and the online one makes the target.",
            knobs={"choose": "online", "values": "online", "predicted_by": "target"},
            wrong="q = target_net(obs).gather(1, a); target = r + gamma * q_net(next_obs).max(1).values.detach()",
            right="q = q_net(obs).gather(1, a); target = r + gamma * target_net(next_obs).max(1).values",
            harm="No gradient reaches the network that is trained.",
            fix="predict with the online network, bootstrap with the target network",
        ),
        Mistake(
            "VAL148", "dqn-loss-prediction-by-target", "The target network makes the prediction too.",
            knobs={"predicted_by": "target"},
            wrong="q = target_net(obs).gather(1, actions)",
            right="q = q_net(obs).gather(1, actions)",
            harm="No gradient reaches the network that is trained.",
            fix="predict with the online network",
        ),
        Mistake(
            "VAL134", "dqn-loss-best-action-predicted", "The best action's value is trained, not the taken one's.",
            knobs={"predicted": "max"},
            wrong="q = q_net(obs).max(1).values",
            right="q = q_net(obs).gather(1, actions)",
            harm="The reward of one action is credited to another.",
            fix="gather the value of the action taken",
        ),
        Mistake(
            "VAL135", "dqn-loss-all-actions", "All actions are trained towards the target of the one taken.",
            knobs={"predicted": "all"},
            wrong="loss = ((q_net(obs) - target[:, None]) ** 2).mean()",
            right=_RIGHT,
            harm="All actions of a state end up with the same value, so the policy has nothing to choose by.",
            fix="gather the value of the action taken",
        ),
        Mistake(
            "VAL136", "dqn-loss-broadcast", "(N, 1) beside (N,): every prediction is compared with every target.",
            knobs={"crossed": True},
            wrong="loss = F.mse_loss(q_net(obs).gather(1, actions), target)  # (N, 1) and (N,)",
            right="loss = F.mse_loss(q_net(obs).gather(1, actions).squeeze(1), target)",
            harm="Every prediction is pulled towards the mean target of the batch; torch only warns.",
            fix="give both the same shape",
            seen_in="hungtuchen/pytorch-dqn issue #3; thu-ml/tianshou PR #155",
        ),
        Mistake(
            "VAL149", "dqn-loss-prediction-detached", "The prediction carries no gradient: nothing is trained.",
            knobs={"predicted_by": "nobody"},
            wrong="q = q_net(obs).gather(1, actions).detach()",
            right="q = q_net(obs).gather(1, actions)",
            harm="The loss is reported, and no weight moves.",
            fix="detach the target, not the prediction",
        ),
        Mistake(
            "VAL137", "dqn-loss-not-squared", "The error is averaged with its sign.",
            knobs={"kind": "signed"},
            wrong="loss = (q - target).mean()",
            right="loss = ((q - target) ** 2).mean()",
            harm="The loss has no minimum: all values are pushed down for ever.",
            fix="square the error, or use a Huber loss",
        ),
        Mistake(
            "VAL126", "dqn-loss-mean-squared", "The mean of the errors is squared, not each error.",
            knobs={"averaged_first": True},
            wrong="loss = (q - target).mean() ** 2",
            right="loss = ((q - target) ** 2).mean()",
            harm="Errors of opposite sign cancel: the values are only right on average.",
            fix="square first, then take the mean",
        ),
        Mistake(
            "VAL138", "dqn-loss-sign-flipped", "The loss has a minus: errors are made larger.",
            knobs={"sign": -1.0},
            wrong="loss = -((q - target) ** 2).mean()",
            right="loss = ((q - target) ** 2).mean()",
            harm="Every update takes the values further from their targets.",
            fix="drop the minus",
        ),
        Mistake(
            "VAL139", "dqn-loss-gamma-missing", "The next value is not discounted.",
            knobs={"gamma_power": 0},
            wrong="target = r + (1 - done) * next_q",
            right="target = r + gamma * (1 - done) * next_q",
            harm="Values grow with the length of the episode, or without end.",
            fix="multiply the bootstrap by γ",
        ),
        Mistake(
            "VAL140", "dqn-loss-current-state", "The target looks at the state itself, not at the next one.",
            knobs={"state": "current"},
            wrong="next_q = target_net(obs).max(1).values",
            right="next_q = target_net(next_obs).max(1).values",
            harm="Nothing is learnt about what follows.",
            fix="evaluate the next observation",
        ),
        Mistake(
            "VAL141", "dqn-loss-weights-ignored", "The weights of prioritised replay are not used.",
            knobs={"weighted": "not"},
            wrong="loss = ((q - target) ** 2).mean()",
            right="loss = (weights * (q - target) ** 2).mean()",
            harm="Rows that are drawn often count too much: values lean towards surprising transitions.",
            fix="multiply each row's loss by its weight, before the mean",
        ),
        Mistake(
            "VAL142", "dqn-loss-weights-after-mean", "The weights are applied after the mean, and do nothing.",
            knobs={"weighted": "after"},
            wrong="loss = (weights * F.mse_loss(q, target)).mean()",
            right="loss = (weights * F.mse_loss(q, target, reduction='none')).mean()",
            harm="Every row counts alike: the weights only scale the learning rate.",
            fix="ask for reduction='none', weigh, then take the mean",
        ),
        Mistake(
            "VAL143", "dqn-loss-wrong-axis", "The maximum is taken over the rows of the batch, not over actions.",
            knobs=({"axis": "rows"}, {"axis": "all"}),
            wrong="next_q = target_net(next_obs).max()",
            right="next_q = target_net(next_obs).max(1).values",
            harm="Every row gets the value of another row's state.",
            fix="take the maximum over the axis of actions",
        ),
        Mistake(
            "VAL144", "dqn-loss-reward-missing", "The reward is left out of the target.",
            knobs={"reward": 0.0},
            wrong="target = gamma * (1 - done) * next_q",
            right="target = r + gamma * (1 - done) * next_q",
            harm="All values shrink to zero.",
            fix="add the reward",
        ),
    ),
)  # fmt: skip
