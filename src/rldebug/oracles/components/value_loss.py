"""The critic's loss of PPO: squared errors, clipped or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rldebug.oracles.material.q_tables import OBSERVATIONS, NoOptimizer, Table, forward_of, observed
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Quantity, Style, Values, floats

_CLIPPING = {"old_value", "clip"}


def reference(case: Case) -> Values:
    count = len(case["value"])
    total, slope = 0.0, np.zeros(count)
    for i in range(count):
        value, old, goal, clip = case["value"][i], case["old_value"][i], case["return"][i], case["clip"]
        loss, steep = (value - goal) ** 2, 2.0 * (value - goal)
        if case["clipped"]:
            moved = min(max(value - old, -clip), clip)
            other = (old + moved - goal) ** 2
            if other > loss:
                inside = abs(value - old) <= clip
                loss, steep = other, 2.0 * (old + moved - goal) if inside else 0.0
        share = case["mask"][i] / sum(case["mask"])
        total += case["coef"] * share * 0.5 * loss
        slope[i] = case["coef"] * share * 0.5 * steep
    return {"loss": np.asarray(total), "grad:value": slope, "online_gradient": slope[:, None]}


def variant(
    case: Case,
    *,
    factor: float = 0.5,
    reduction: str = "mean",  # mean, sum, none
    larger: str = "max",  # of the two squares: max, min, clipped (no choice), mean
    around: str = "old",  # what the value is kept near: old, zero, return, scaled, scaled-low, bare, minus
    clipping: bool = True,
    value: str = "new",  # new, old
    power: int = 2,  # 1: the error with its sign, 0: Huber
    detached: bool = False,
    masked: bool = True,
    times_coef: int = 1,
    sign: float = 1.0,
    crossed: bool = False,  # (N, 1) beside (N,)
    target: str = "return",  # return, advantage, new: the advantage plus the value as it is now
    of_means: bool = False,  # the larger of the two means, not the mean of the larger ones
) -> Values:
    new = case["value"] if value == "new" else case["old_value"]
    old, goal, clip, mask = case["old_value"], case["return"], case["clip"], case["mask"]
    reaches = np.ones_like(new) if value == "new" else np.zeros_like(new)
    follows = 0.0  # how the target changes with the value
    if target != "return":
        goal = goal - old
    if target == "new":
        goal, follows = goal + case["value"], 1.0
    if crossed:
        new, old, reaches, mask = new[:, None], old[:, None], reaches[:, None], mask[:, None]
        goal = goal[None, :]
    error = new - goal
    loss, slope = _power(error, power, reaches - follows)
    if case["clipped"] and clipping:
        kept, passes = _kept(new, old, goal, clip, around)
        other, other_slope = _power(kept - goal, power, reaches * passes - follows)
        if larger == "clipped":
            loss, slope = other, other_slope
        elif larger == "mean":
            loss, slope = 0.5 * (loss + other), 0.5 * (slope + other_slope)
        else:
            # Where both are alike, torch gives each half of the slope; both slopes are alike there too, or one is 0.
            one, two = (loss.mean(), other.mean()) if of_means else (loss, other)
            first = np.broadcast_to(one > two if larger == "max" else one < two, loss.shape)
            even = np.broadcast_to(one == two, loss.shape)
            slope = np.where(even, 0.5 * (slope + other_slope), np.where(first, slope, other_slope))
            loss = np.where(first | even, loss, other)
    coef = sign * factor * case["coef"] ** times_coef
    loss, slope = coef * loss, coef * slope * np.ones_like(loss)
    if masked:
        loss, slope = loss * mask, slope * mask
    if reduction != "none":
        count = 1.0 if reduction == "sum" else (mask * np.ones_like(loss)).sum() if masked else loss.size
        loss, slope = np.asarray(loss.sum() / count), slope / count
    slope = slope.sum(axis=1) if crossed else slope
    slope = np.zeros_like(slope) if detached else slope
    return {"loss": loss, "grad:value": slope, "online_gradient": slope[:, None]}


def _power(error: Array, power: int, reaches: Array) -> tuple[Array, Array]:
    if power == 0:
        size = np.abs(error)
        return np.where(size < 1.0, 0.5 * error**2, size - 0.5), np.clip(error, -1.0, 1.0) * reaches
    return (error**2, 2.0 * error * reaches) if power == 2 else (error, np.ones_like(error) * reaches)


def _kept(new: Array, old: Array, goal: Array, clip: float, around: str) -> tuple[Array, Array]:
    """The value kept near something, and where the gradient passes."""
    if around in ("old", "bare", "minus"):
        moved = np.clip(new - old, -clip, clip)
        passes = (np.abs(new - old) <= clip).astype(np.float64)
        return {"old": (old + moved, passes), "bare": (moved, passes), "minus": (old - moved, -passes)}[around]
    low, high = {
        "zero": (np.full_like(new, -clip), np.full_like(new, clip)),
        "return": (goal - clip, goal + clip),
        "scaled": (old * (1 - clip), old * (1 + clip)),
        "scaled-low": (old * (1 - clip), old * (1 + clip)),
        "ratio": (np.minimum(old * (1 - clip), old * (1 + clip)), np.maximum(old * (1 - clip), old * (1 + clip))),
    }[around]
    kept = np.minimum(np.maximum(new, low), high)
    if around == "scaled-low":  # which bound wins where they are the wrong way round
        kept = np.maximum(np.minimum(new, high), low)
    return kept, ((new >= low) & (new <= high)).astype(np.float64)


def _case(name: str, value: Any, old: Any, goal: Any, clip: float = 0.25, **more: Any) -> Case:
    count = len(value)
    given = {"value": floats(value), "old_value": floats(old), "return": floats(goal), "clip": clip, "clipped": True}
    mask = floats([1, 0, 1, 1, 1])[:count] if count > 1 else np.ones(count)
    return Case(name, {**given, "coef": 0.25, "mask": mask, **more}, edge=count == 1)


def cases() -> list[Case]:
    return [
        _case("one row", [2], [2.125], [3]),
        _case("one row that moved too far", [2], [0.5], [3]),
        _case("two rows", [2, -1], [2.125, -1.125], [3, 2]),
        _case("three rows, two moved too far", [2, -1, 4], [1, 1, 4.125], [3, 2, 1]),
        _case("three rows, one moved past its return", [2, -1, 3.5], [1, -2, 3.125], [1.5, 4, -1]),
        _case("four rows", [2, -1, 4, 0.5], [1, -0.125, 4.125, -2], [3, 2, -1, 0]),
        _case(
            "four rows near zero", [0.125, -0.5, 0.75, 0.5], [0.25, -0.25, 0.0625, 0.625], [1, 0.5, -1, 0], clip=0.1875
        ),
        _case("four rows, wide clip", [2, -1, 4, 0.5], [1, -0.125, 6.5, -2], [3, 2, -1, 0], clip=2.0),
    ]


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    count = draw(st.integers(2, 4))

    def column(offset: float) -> Array:  # no two of value, old value and return are ever the same distance apart
        return floats(draw(st.lists(st.integers(-4, 4), min_size=count, max_size=count))) + offset

    case = _case("drawn at random", column(0.0), column(0.3), column(0.11), draw(st.sampled_from([0.2, 0.5, 1.0])))
    return case.but(mask=floats([1, *draw(st.lists(st.integers(0, 1), min_size=count - 1, max_size=count - 1))]))


def told(case: Case, bound: frozenset[str]) -> Case:
    changed: dict[str, Any] = {"clipped": "old_value" in bound}
    if "coef" not in bound:
        changed["coef"] = 1.0
    if "mask" not in bound:
        changed["mask"] = np.ones(len(case["value"]))
    if "use_clip" in bound and "old_value" not in bound:
        changed["clipped"] = False
    return case.but(**changed)


def fair(case: Case, bound: frozenset[str]) -> bool:
    return "mask" not in bound or case["mask"].any()


def rebuild(given: Mapping[str, Any]) -> Case:
    value = floats(given["value"])
    more = {"old_value": value, "clip": 1.0, "coef": 1.0, "mask": np.ones_like(value), **given}
    return Case("from the program", {**more, "value": value, "clipped": "old_value" in given})


def _styles() -> tuple[Style, ...]:
    made = []
    for larger, words in (("max", ""), ("clipped", ", of the clipped value alone")):
        for reduction, said in (("mean", "mean of"), ("sum", "sum of"), ("none", "one for each row:")):
            for factor, times in ((0.5, "½ squared errors"), (1.0, "squared errors")):
                knobs = {"factor": factor, "reduction": reduction, "larger": larger}
                made.append(Style(f"{said} {times}{words}", knobs))
            huber = {"factor": 1.0, "reduction": reduction, "larger": larger, "power": 0}
            made.append(Style(f"{said} Huber losses{words}", huber))
    return tuple(made)


_RIGHT = "v_clipped = old + (value - old).clamp(-eps, eps); max((value - ret)**2, (v_clipped - ret)**2).mean()"

VALUE_LOSS = Oracle(
    name="value-loss",
    aliases="clipped-value-loss ppo-value-loss vf-loss critic-loss value-function-loss v-loss",
    code="VAL235",
    summary="The critic's loss: squared errors, of PPO the larger of those with and without a clipped value.",
    formula="L = mean ½ max((V − R)², (V_old + clip(V − V_old, −ε, ε) − R)²), or mean (V − R)² without V_old",
    example="def value_loss(values, old_values, returns, clip)",
    references="Schulman and others, *Proximal policy optimization algorithms*, and OpenAI baselines.",
    quantities=(
        Quantity("value", "value values v vs val vals new_value newvalue new_values newvalues value_pred value_preds "
                 "values_pred v_pred vpred vpreds state_values state_value new_v v_new critic_values curr_values vf "
                 "predicted_values value_new current_values current_value critic_value pred_values values_new "
                 "value_predictions predictions preds pred new_vals value_current v_s values_now estimated_values "
                 "state_vals", "N", meaning="V(s), as it is now"),
        Quantity("old_value", "old_value old_values old_v v_old old_vals old_val oldvpred old_vpred old_vpreds "
                 "old_state_value "
                 "old_value_preds prev_values prev_value rollout_values values_old old_state_values stored_values "
                 "oldvalue oldvalues old_value_pred old_critic_values b_values last_values buffer_values v_prev "
                 "vpred_old value_old v_pred_old vals_old vf_old", "N",
                 meaning="V(s), as it was in the rollout"),
        Quantity("old_value", "value_preds value_pred values value value_preds_batch value_batch", "N",
                 with_=("value",), meaning="V(s), as it was in the rollout"),
        Quantity("return", "return returns ret rets target targets value_target value_targets target_value "
                 "target_values v_target v_targets r discounted_returns returns_to_go vtarg rewards_to_go td_target "
                 "td_targets rtgs rtg g v_targ gt discounted_rewards returns_target lambda_returns target_return "
                 "target_returns labels q_sa"
                 , "N",
                 meaning="what V(s) should be"),
        Quantity("advantage", "advantage advantages adv advs gae gaes a", "N",
                 of=lambda case: case["return"] - case["old_value"], meaning="what V(s) should be, minus the old V(s)"),
        Quantity("clip", "clip clip_range clip_coef clip_range_vf clip_eps clip_epsilon eps epsilon clip_param "
                 "clip_value cliprange cliprange_value vf_clip vf_clip_param value_clip eps_clip clip_ratio "
                 "clip_vf value_clip_range vf_clip_range e vclip clip_range_value val_clip e_clip clip_epsilon_value "
                 "clip_threshold", meaning="ε"),
        Quantity("coef", "vf_coef value_coef value_loss_coef critic_coef vf_coeff value_loss_coeff value_coeff c1 "
                 "critic_loss_coef v_coef vf_loss_coef vf_weight value_loss_weight", kind="int",
                 meaning="the weight of this loss"),
        Quantity("mask", "mask masks loss_mask response_mask active_masks value_mask pad_mask attention_mask", "N",
                 meaning="1 for rows that count"),
        Quantity("critic", "critic value_net value_network v_net value_function critic_net critic_network vf_net net "
                 "model value_model critic_model v_network state_value_net", None, "object",
                 of=lambda case: Table(case["value"][:, None], online=True), without=("value",),
                 meaning="the critic, which gives (N, 1)"),
        Quantity("obs", OBSERVATIONS[0].names, "ND", of=lambda case: np.eye(len(case["value"])), meaning="s"),
        Quantity("optimizer", "optimizer optim opt optimiser critic_optimizer value_optimizer vf_optimizer", None,
                 "object", of=lambda case: NoOptimizer(), meaning="an optimizer that does nothing"),
        Quantity("use_clip", "clip_vloss use_clipped_value_loss clip_value_loss use_clip clip_loss clip_values", None,
                 "object", of=lambda case: True, meaning="True: the value is to be clipped"),
    ),
    outputs=(
        Output("loss", "loss losses value_loss v_loss vf_loss critic_loss value_losses vf_losses loss_v loss_vf", "N"),
        Output("online_gradient", "online_gradient", "D"),
    ),
    required=("value|critic", "return|advantage"),
    columns=("value", "old_value", "return", "mask"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=fair,
    told=told,
    rebuild=rebuild,
    adapt=forward_of,
    gradients=("value",),
    observe=lambda inputs, returned: observed(inputs.get("critic"), returned),
    layouts=("(N,)", "(N, 1)"),
    styles=_styles(),
    mistakes=(
        Mistake(
            "VAL236", "value-loss-min-for-max", "The smaller of the two losses is taken, not the larger.",
            knobs={"larger": "min"},
            wrong="torch.min((value - ret)**2, (v_clipped - ret)**2).mean()",
            right="torch.max((value - ret)**2, (v_clipped - ret)**2).mean()",
            harm="Steps beyond the clip are rewarded, where they should be held back.",
            fix="take the maximum of the two",
        ),
        Mistake(
            "VAL237", "value-loss-clipped-around-zero", "The value is clipped around zero, not around the old value.",
            knobs={"around": "zero"},
            wrong="v_clipped = value.clamp(-eps, eps)",
            right="v_clipped = old + (value - old).clamp(-eps, eps)",
            harm="Through the clipped branch the critic cannot leave [−ε, ε].",
            fix="clip the difference to the old value and add the old value",
            seen_in="vwxyzjn/cleanrl commit ee728e92",
        ),
        Mistake(
            "VAL238", "value-loss-clipped-around-return", "The value is clipped around the return, not the old value.",
            knobs={"around": "return", "larger": "clipped"},
            wrong="loss = ((ret + (value - ret).clamp(-eps, eps) - ret)**2).mean()",
            right="loss = ((old + (value - old).clamp(-eps, eps) - ret)**2).mean()",
            harm="Rows whose error is larger than ε carry no gradient: just those that are most wrong are not learnt.",
            fix="clip around the value that was predicted in the rollout",
        ),
        Mistake(
            "VAL239", "value-loss-clip-scaled", "The old value is scaled by 1 ± ε, as if it were a ratio.",
            knobs=({"around": "scaled"}, {"around": "scaled-low"}, {"around": "ratio"}),
            wrong="v_clipped = value.clamp(old * (1 - eps), old * (1 + eps))",
            right="v_clipped = old + (value - old).clamp(-eps, eps)",
            harm="Values near zero cannot move; below zero the bounds are the wrong way round.",
            fix="add the clipped difference to the old value",
        ),
        Mistake(
            "VAL240", "value-loss-old-value-not-added", "The clipped difference is compared without the old value.",
            knobs={"around": "bare"},
            wrong="v_clipped = (value - old).clamp(-eps, eps)",
            right="v_clipped = old + (value - old).clamp(-eps, eps)",
            harm="The clipped branch compares a difference with a return.",
            fix="add the old value to the clipped difference",
        ),
        Mistake(
            "VAL241", "value-loss-clip-mirrored", "The clipped difference is subtracted from the old value.",
            knobs={"around": "minus"},
            wrong="v_clipped = old + (old - value).clamp(-eps, eps)",
            right="v_clipped = old + (value - old).clamp(-eps, eps)",
            harm="The clipped branch pushes the critic the wrong way.",
            fix="clip value − old, not old − value",
        ),
        Mistake(
            "VAL242", "value-loss-not-clipped", "Old values are taken, and the clip has no effect.",
            knobs={"clipping": False},
            wrong="((value - ret)**2).mean()",
            right=_RIGHT,
            harm="The setting for the clip has no effect.",
            fix="clip, or drop the argument",
            fine="Where the clip is switched off on purpose.",
        ),
        Mistake(
            "VAL243", "value-loss-of-old-values", "The values of the rollout are trained, not those of the critic now.",
            knobs={"value": "old"},
            wrong="((old_values - returns)**2).mean()",
            right="((critic(obs) - returns)**2).mean()",
            harm="No gradient reaches the critic: it never learns.",
            fix="compare what the critic predicts now",
            seen_in="vwxyzjn/cleanrl commit 5a3a0925",
        ),
        Mistake(
            "VAL244", "value-loss-not-squared", "The error is averaged with its sign.",
            knobs={"power": 1},
            wrong="(value - ret).mean()",
            right="((value - ret)**2).mean()",
            harm="The loss has no minimum: values are pushed down for ever.",
            fix="square the error",
        ),
        Mistake(
            "VAL245", "value-loss-sign-flipped", "The loss has a minus: errors are made larger.",
            knobs={"sign": -1.0},
            wrong="-((value - ret)**2).mean()",
            right="((value - ret)**2).mean()",
            harm="Every update takes the values further from the returns.",
            fix="drop the minus",
        ),
        Mistake(
            "VAL246", "value-loss-rows-broadcast", "(N, 1) beside (N,): every value is compared with every return.",
            knobs={"crossed": True},
            wrong="((critic(obs) - returns)**2).mean()  # (N, 1) and (N,)",
            right="((critic(obs).squeeze(-1) - returns)**2).mean()",
            harm="All values are pulled towards the mean return: the critic ends up a constant.",
            fix="give both the same shape",
            seen_in="thu-ml/tianshou PR #155",
        ),
        Mistake(
            "VAL247", "value-loss-detached", "The values carry no gradient: nothing is trained.",
            knobs={"detached": True},
            wrong="((value.detach() - ret)**2).mean()",
            right="((value - ret.detach())**2).mean()",
            harm="The loss is reported, and no weight moves.",
            fix="detach the returns, not the values",
        ),
        Mistake(
            "VAL248", "value-loss-mask-ignored", "Rows that are masked out count.",
            knobs={"masked": False},
            wrong="((value - ret)**2).mean()",
            right="(mask * (value - ret)**2).sum() / mask.sum()",
            harm="The critic is trained on padding.",
            fix="weigh by the mask and divide by its sum",
        ),
        Mistake(
            "VAL230", "value-loss-larger-mean", "The larger of two means is taken, not the mean of the larger.",
            knobs={"of_means": True},
            wrong="torch.max(((value - ret)**2).mean(), ((v_clipped - ret)**2).mean())",
            right="torch.max((value - ret)**2, (v_clipped - ret)**2).mean()",
            harm="Whether a row is clipped depends on the other rows.",
            fix="compare row by row, then take the mean",
        ),
        Mistake(
            "VAL231", "value-loss-target-is-advantage", "The values are trained towards the advantages.",
            knobs={"target": "advantage"},
            wrong="((value - advantages)**2).mean()",
            right="((value - returns)**2).mean()",
            harm="The critic learns how much better than itself it should be, which is near zero.",
            fix="train towards the returns: advantages plus the values of the rollout",
        ),
        Mistake(
            "VAL232", "value-loss-target-follows-value", "The returns are rebuilt from the new values.",
            knobs={"target": "new"},
            wrong="returns = advantages + values",
            right="returns = advantages + old_values",
            harm="The error is the advantage, whatever the critic says: it has nothing to learn from.",
            fix="add the values of the rollout to the advantages",
        ),
        Mistake(
            "VAL249", "value-loss-coefficient-twice", "The loss is multiplied by its weight twice, or not at all.",
            knobs=({"times_coef": 2}, {"times_coef": 0}),
            wrong="value_loss = coef * coef * ((value - ret)**2).mean()",
            right="value_loss = coef * ((value - ret)**2).mean()",
            harm="The critic learns at another rate than the settings say.",
            fix="multiply by the weight once",
            fine="Where the weight is used for something else.",
        ),
    ),
)  # fmt: skip
