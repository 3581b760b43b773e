"""The clipped surrogate loss of PPO."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from rldebug.oracles.material.policies import (
    ADVANTAGE,
    LOGP,
    MASK,
    NEG_LOGP,
    OLD_LOGP,
    OLD_LOGP_PLAIN,
    OLD_NEG_LOGP,
    RETURN_NAMES,
    maximised,
    needs_mask,
    reduced,
)
from rldebug.oracles.oracle import Case, Mistake, Oracle, Output, Quantity, Style, Values, flags, floats

FAR = 1e6  # a second clip that never takes hold


def reference(case: Case) -> Values:
    rows, slopes = [], []
    low, high = 1.0 - case["clip"], 1.0 + case["clip"]
    count = float(case["mask"].sum())
    for new, old, advantage, counts in zip(
        case["logp"], case["old_logp"], case["advantage"], case["mask"], strict=True
    ):
        ratio = float(np.exp(new - old))
        gain = min(ratio * advantage, min(max(ratio, low), high) * advantage)
        moves = low < ratio < high or gain == ratio * advantage
        if advantage < 0 and gain < case["dual_clip"] * advantage:
            gain, moves = case["dual_clip"] * advantage, False
        rows.append(-gain * counts / count)
        slopes.append(-ratio * advantage * counts / count if moves else 0.0)
    return {"loss": np.asarray(sum(rows)), "grad:logp": np.asarray(slopes)}


def variant(
    case: Case,
    *,
    reduce: str = "mean",  # style: mean, sum, none
    objective: bool = False,  # style: to be maximised
    normalised: str = "",  # style: advantages are normalised first, by which standard deviation
    value_weight: float = 1.0,  # style: of the squared error in the total
    ratio: str = "exp",  # exp, inverted, log, divided
    sign: float = 1.0,
    take: str = "min",  # which of the two products: min, max, clipped
    clip: str = "both",  # both, upper, lower, none
    bounds: str = "around one",  # around one, around zero, up to one
    clamped: str = "ratio",  # ratio, product
    detached: bool = False,
    late: bool = False,  # advantages are normalised after the first product
    masked: str = "right",  # right, ignored, divided by all
    dual: str = "negative",  # where the second clip holds: negative, everywhere
    weight: float = 1.0,  # how many times the advantage is multiplied in
) -> Values:
    logp = torch.tensor(case["logp"], requires_grad=True)
    old, advantage = torch.tensor(case["old_logp"]), torch.tensor(case["advantage"])
    new = logp.detach() if detached else logp
    weighed = {
        "exp": lambda: (new - old).exp(),
        "inverted": lambda: (old - new).exp(),
        "log": lambda: new - old,
        "divided": lambda: new / old,
    }[ratio]()
    raw = advantage
    if normalised or late:
        advantage = _scaled(advantage, normalised or "n-1")
    advantage = advantage * advantage.abs() ** (weight - 1.0)
    first = weighed * (raw if late else advantage)
    eps = case["clip"]
    low, high = {
        "around one": (1.0 - eps, 1.0 + eps),
        "around zero": (-eps, eps),
        "up to one": (eps, 1.0),
    }[bounds]
    low, high = (-FAR if clip in ("upper", "none") else low), (FAR if clip in ("lower", "none") else high)
    if clamped == "ratio":
        second = weighed.clamp(low, high) * advantage
    else:
        second = first.clamp(low, high)
    gain = {"min": torch.minimum, "max": torch.maximum, "clipped": lambda _, other: other}[take](first, second)
    limit = torch.maximum(gain, case["dual_clip"] * advantage)
    gain = limit if dual == "everywhere" else torch.where(advantage < 0, limit, gain)
    mask = torch.tensor(case["mask"].astype(np.float64))
    rows = -sign * (-1.0 if objective else 1.0) * gain
    rows = rows * mask if masked == "divided by all" else rows
    loss = reduced(rows, reduce, mask if masked == "right" else None)
    slope = None
    if loss.requires_grad:
        (slope,) = torch.autograd.grad(loss.sum(), [logp])
    error = value_weight * ((case["return"] - case["value"]) ** 2).mean()
    total = loss.detach().numpy() + case["vf_coef"] * error - case["ent_coef"] * case["entropy"].mean()
    return {"loss": loss.detach().numpy(), "total": total, "grad:logp": None if slope is None else slope.numpy()}


def _scaled(advantage: torch.Tensor, how: str) -> torch.Tensor:
    if len(advantage) < 2 and how != "n":
        return advantage if how == "guarded" else advantage * torch.nan
    spread = advantage.std(unbiased=how != "n")
    return (advantage - advantage.mean()) / (spread + 1e-8)


def _case(name: str, ratio: Any, advantage: Any, *, clip: float = 0.2, mask: Any = None, **more: Any) -> Case:
    ratios = floats(ratio)
    rows = len(ratios)
    old = -np.resize([1.0, 2.0, 0.5, 1.5], rows)
    needs = more.pop("needs", frozenset())
    return Case(
        name,
        {
            "logp": old + np.log(ratios),
            "old_logp": old,
            "advantage": floats(advantage),
            "clip": clip,
            "mask": np.ones(rows, dtype=bool) if mask is None else flags(mask),
            "dual_clip": FAR,
            "value": np.arange(rows) + 0.5,
            "return": 2.0 + 1.5 * np.arange(rows),
            "entropy": 0.5 + 0.25 * np.arange(rows),
            "vf_coef": 0.5,
            "ent_coef": 0.25,
            **more,
        },
        needs=needs,
    )


def cases() -> list[Case]:
    dual = frozenset({"dual_clip"})
    return [
        _case("one row, more likely than before", [1.5], [2]),
        _case("one row, less likely than before", [0.5], [2]),
        _case("one row, more likely, and worse than expected", [1.5], [-3]),
        _case("one row, less likely, and worse than expected", [0.5], [-3]),
        _case("two rows, as likely as before", [1, 1], [1, -2]),
        _case("two rows within the clip range", [1.1, 0.9], [1, -2]),
        _case("two rows, both more likely", [1.5, 1.5], [1, -2]),
        _case("two rows, both less likely", [0.5, 0.5], [2, -1]),
        _case("four rows beyond the clip range", [1.5, 0.5, 1.75, 0.25], [1, 2, -1, -3]),
        _case("three rows, large advantages", [1.1, 0.5, 1.5], [10, -20, 40]),
        _case("three rows, ε = 0.1", [1.15, 0.85, 1.05], [1, -2, 3], clip=0.1),
        _case("four rows, two of which do not count", [1.5, 0.5, 1.1, 2], [1, 2, -1, 5], mask=[1, 0, 1, 0]),
        _case("three rows, a second clip at 2", [2.5, 2.5, 1.1], [1, -1, -2], dual_clip=2.0, needs=dual),
        _case("three rows, a second clip at 1.5", [0.5, 2, 1.1], [2, -1, 3], dual_clip=1.5, needs=dual),
    ]


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    rows = draw(st.integers(2, 5))
    ratio = draw(st.lists(st.sampled_from([1.0, 1.05, 0.95, 1.5, 0.5, 2.0]), min_size=rows, max_size=rows))
    advantage = draw(st.lists(st.integers(-4, 4), min_size=rows, max_size=rows).filter(lambda a: len(set(a)) > 1))
    return _case("drawn at random", ratio, advantage, clip=draw(st.sampled_from([0.2, 0.1, 0.3])))


_PLAIN = (
    Style("usual"),
    Style("sum over the rows", {"reduce": "sum"}),
    Style("one number for each row", {"reduce": "none"}),
    Style("advantages normalised inside, ÷(N−1)", {"normalised": "n-1"}),
    Style("advantages normalised inside, ÷N", {"normalised": "n"}),
    Style("advantages normalised inside where there are two or more, ÷(N−1)", {"normalised": "guarded"}),
)
STYLES = (
    *_PLAIN,
    Style("half the squared error in the total", {"value_weight": 0.5}),
    *(maximised(each) for each in _PLAIN),
)

_CLIP_NAMES = (
    "clip clip_range clip_eps clip_coef clip_ratio epsilon eps clip_epsilon clip_param cliprange eps_clip ppo_clip "
    "clipping clip_val clip_value ppo_eps ppo_epsilon e clip_rho clip_threshold ppo_clip_param clip_coefficient "
    "surrogate_clip clip_norm_ratio clip_parameter epsilon_clip ppo_clip_eps ppo_clip_epsilon policy_clip clip_pg"
)

PPO_LOSS = Oracle(
    name="ppo-loss",
    aliases="ppo-clip clipped-surrogate surrogate ppo-policy-loss clipped-surrogate-loss ppo-clip-loss",
    code="POL100",
    summary="The clipped surrogate of PPO: the smaller of two products of ratio and advantage, as a loss.",
    formula="L = −mean(min(r A, clip(r, 1 − ε, 1 + ε) A)),  r = exp(log π(a|s) − log π_old(a|s))",
    example="def ppo_loss(log_probs, old_log_probs, advantages, clip_range)",
    references="Schulman and others, *Proximal policy optimization algorithms*.",
    quantities=(
        LOGP,
        OLD_LOGP,
        OLD_LOGP_PLAIN,
        NEG_LOGP,
        OLD_NEG_LOGP,
        Quantity("ratio", "ratio ratios r prob_ratio probs_ratio importance_ratio rt is_ratio importance_weights "
                 "importance_weight prob_ratios policy_ratio r_theta rho", "N",
                 of=lambda case: np.exp(case["logp"] - case["old_logp"]), without=("logp", "log_ratio"),
                 meaning="π(a|s) / π_old(a|s)"),
        Quantity("log_ratio", "log_ratio logratio log_ratios logratios log_weight log_weights log_r log_diff", "N",
                 of=lambda case: case["logp"] - case["old_logp"], without=("logp", "ratio"),
                 meaning="log of π(a|s) / π_old(a|s)"),
        ADVANTAGE,
        Quantity("clip", _CLIP_NAMES, meaning="ε"),
        Quantity("clip_low", "clip_low eps_low epsilon_low cliprange_low clip_ratio_low clip_eps_low clip_min_eps "
                 "clip_range_low", None, "object", of=lambda case: case["clip"], meaning="ε below 1"),
        Quantity("clip_high", "clip_high eps_high epsilon_high cliprange_high clip_ratio_high clip_eps_high "
                 "clip_range_high",
                 None, "object", of=lambda case: case["clip"], meaning="ε above 1"),
        Quantity("dual_clip", "dual_clip dual_clip_c clip_ratio_c dual_clip_ratio clip_c dual_clip_coef", None,
                 "object",
                 meaning="the second clip, where the advantage is negative"),
        MASK,
        Quantity("value", "values value new_values newvalue new_value v vpred state_values value_preds vals", "N"),
        Quantity("return", RETURN_NAMES, "N", with_=("value",)),
        Quantity("entropy", "entropy entropies dist_entropy ent", "N"),
        Quantity("vf_coef", "vf_coef value_coef value_loss_coef vf_coeff value_coeff c1 critic_coef", None, "object"),
        Quantity("ent_coef", "ent_coef entropy_coef ent_coeff entropy_coeff c2 entropy_weight beta", None, "object"),
    ),
    outputs=(
        Output("loss", "loss policy_loss pg_loss actor_loss loss_pi pi_loss surrogate_loss clip_loss loss_clip "
               "ppo_loss "
               "loss_objective policy_gradient_loss loss_policy action_loss", "N"),
        Output("total", "total total_loss", ""),
    ),
    required=("logp|neg_logp|ratio|log_ratio", "old_logp|old_neg_logp|ratio|log_ratio", "advantage"),
    gradients=("logp",),
    columns=("logp", "old_logp", "advantage", "mask"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=needs_mask,
    layouts=("(N,)", "(N, 1)"),
    styles=STYLES,
    mistakes=(
        Mistake(
            "POL101", "ppo-loss-sign-flipped", "The loss has the opposite sign.",
            knobs={"sign": -1.0},
            wrong="loss = torch.min(surr1, surr2).mean()",
            right="loss = -torch.min(surr1, surr2).mean()",
            harm="The optimizer makes good actions less likely and bad ones more likely.",
            fix="negate the surrogate before it is minimised",
            fine="Where the caller maximises it: call the function an objective then.",
        ),
        Mistake(
            "POL102", "ppo-loss-min-max-swapped", "The larger of the two products is taken, not the smaller.",
            knobs={"take": "max"},
            wrong="loss = -torch.max(ratio * adv, clipped * adv).mean()",
            right="loss = -torch.min(ratio * adv, clipped * adv).mean()",
            harm="The clip never holds the policy back: where it has gone too far, the gradient goes on.",
            fix="take the minimum of the two products and negate it, or the maximum of the two negated products",
        ),
        Mistake(
            "POL103", "ppo-loss-ratio-inverted", "The ratio is old over new.",
            knobs={"ratio": "inverted"},
            wrong="ratio = (old_logp - logp).exp()",
            right="ratio = (logp - old_logp).exp()",
            harm="Good actions become less likely: the gradient points the other way.",
            fix="subtract the old log-probability from the new one",
        ),
        Mistake(
            "POL104", "ppo-loss-ratio-without-exp", "The ratio is a difference of logs: exp is missing.",
            knobs={"ratio": "log"},
            wrong="ratio = logp - old_logp",
            right="ratio = (logp - old_logp).exp()",
            harm="The ratio starts at 0, not at 1, so all rows are clipped and most have no gradient.",
            fix="take the exp of the difference",
        ),
        Mistake(
            "POL105", "ppo-loss-logs-divided", "Log-probabilities are divided by each other.",
            knobs={"ratio": "divided"},
            wrong="ratio = logp / old_logp",
            right="ratio = (logp - old_logp).exp()",
            harm="The ratio grows as the action becomes less likely.",
            fix="divide probabilities, or take the exp of the difference of logs",
        ),
        Mistake(
            "POL106", "ppo-loss-clip-missing", "Nothing is clipped.",
            knobs={"clip": "none"},
            wrong="loss = -(ratio * adv).mean()",
            right="loss = -torch.min(ratio * adv, ratio.clamp(1 - eps, 1 + eps) * adv).mean()",
            harm="With several epochs on the same rollout the policy runs away from the one that acted.",
            fix="clip the ratio to 1 − ε … 1 + ε and take the minimum",
        ),
        Mistake(
            "POL107", "ppo-loss-clip-one-sided", "The ratio is clipped on one side only.",
            knobs=({"clip": "upper"}, {"clip": "lower"}),
            wrong="clipped = ratio.clamp(max=1 + eps)",
            right="clipped = ratio.clamp(1 - eps, 1 + eps)",
            harm="Bad actions are pushed down without end, or good ones up.",
            fix="clip to 1 − ε below and to 1 + ε above",
        ),
        Mistake(
            "POL108", "ppo-loss-clip-bounds-wrong", "The ratio is clipped to other bounds than 1 − ε and 1 + ε.",
            knobs=({"bounds": "around zero"}, {"bounds": "up to one"}),
            wrong="clipped = ratio.clamp(-eps, eps)",
            right="clipped = ratio.clamp(1 - eps, 1 + eps)",
            harm="All rows are clipped from the start, or good ones are held back at once.",
            fix="clip to 1 − ε … 1 + ε",
        ),
        Mistake(
            "POL109", "ppo-loss-minimum-missing", "Only the clipped product is used.",
            knobs={"take": "clipped"},
            wrong="loss = -(ratio.clamp(1 - eps, 1 + eps) * adv).mean()",
            right="loss = -torch.min(ratio * adv, ratio.clamp(1 - eps, 1 + eps) * adv).mean()",
            harm="Once a row is beyond the range on the wrong side, no gradient brings it back.",
            fix="take the minimum of the clipped and the unclipped product",
        ),
        Mistake(
            "POL110", "ppo-loss-product-clipped", "Ratio times advantage is clipped, not the ratio.",
            knobs=({"clamped": "product"}, {"clamped": "product", "take": "clipped"}),
            wrong="surr2 = torch.clamp(ratio * adv, 1 - eps, 1 + eps)",
            right="surr2 = torch.clamp(ratio, 1 - eps, 1 + eps) * adv",
            harm="What is clipped depends on the size of the advantage.",
            fix="clip the ratio and multiply by the advantage after that",
        ),
        Mistake(
            "POL111", "ppo-loss-without-gradient", "No gradient reaches the new log-probabilities.",
            knobs={"detached": True},
            wrong="ratio = (logp.detach() - old_logp).exp()",
            right="ratio = (logp - old_logp.detach()).exp()",
            harm="The policy is not trained at all by this loss.",
            fix="detach the old log-probabilities, not the new ones",
        ),
        Mistake(
            "POL112", "ppo-loss-normalised-late", "Advantages are normalised between the two products.",
            knobs=({"late": True}, {"late": True, "normalised": "n"}),
            wrong="surr1 = ratio * adv; adv = normalise(adv); surr2 = clipped * adv",
            right="adv = normalise(adv); surr1 = ratio * adv; surr2 = clipped * adv",
            harm="The minimum compares numbers on two scales, so the clip holds at random.",
            fix="normalise the advantages before both products",
            seen_in="pytorch/rl#1033",
        ),
        Mistake(
            "POL113", "ppo-loss-mask-ignored", "Rows that do not count are part of the mean.",
            knobs=({"masked": "ignored"}, {"masked": "divided by all"}),
            wrong="loss = -torch.min(surr1, surr2).mean()",
            right="loss = -(torch.min(surr1, surr2) * mask).sum() / mask.sum()",
            harm="Padding is trained on.",
            fix="multiply by the mask and divide by its sum",
        ),
        Mistake(
            "POL114", "ppo-loss-dual-clip-everywhere", "The second clip is applied to positive advantages too.",
            knobs={"dual": "everywhere"},
            wrong="gain = torch.max(torch.min(surr1, surr2), c * adv)",
            right="gain = torch.where(adv < 0, torch.max(torch.min(surr1, surr2), c * adv), torch.min(surr1, surr2))",
            harm="For positive advantages the loss is constant: good actions are not learned.",
            fix="apply it only where the advantage is negative",
            seen_in="thu-ml/tianshou#435",
        ),
        Mistake(
            "POL115", "ppo-loss-advantage-twice", "The advantage is multiplied in twice.",
            knobs={"weight": 2.0},
            wrong="surr = ratio * adv; loss = -(torch.min(surr, clipped * adv) * adv.abs()).mean()",
            right="loss = -torch.min(ratio * adv, clipped * adv).mean()",
            harm="Rare large advantages rule the update.",
            fix="multiply by the advantage once",
        ),
    ),
)  # fmt: skip
