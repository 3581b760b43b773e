"""The importance ratio: how much likelier an action is now than when it was taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rldebug.oracles.material.policies import (
    LOGP,
    NEG_LOGP,
    OLD_LOGP,
    OLD_LOGP_PLAIN,
    OLD_NEG_LOGP,
    RAISED,
    TWO_CHOICE,
    logits_of_two,
    two_actions,
)
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Quantity, Style, Values, floats

FAR = 1e6  # a cap that never takes hold


def reference(case: Case) -> Values:
    ratios = []
    for new, old in zip(case["logp_dims"], case["old_logp_dims"], strict=True):
        ratio = 1.0
        for here, there in zip(new, old, strict=True):
            ratio *= float(np.exp(here)) / float(np.exp(there))
        ratios.append(min(ratio, case["cap"]))
    return {"ratio": np.asarray(ratios)}


def variant(
    case: Case,
    *,
    capped: float = FAR,  # style: truncated at 1
    form: str = "exp",  # exp, inverted, log, divided, probabilities, new, one, logits
    dims: str = "sum",  # how actions of several dimensions are joined: sum, mean, ratios summed, ratios averaged
    minus: float = 0.0,
    cap: str = "above",  # above, below, none
) -> Values:
    new, old = case["logp_dims"], case["old_logp_dims"]
    if dims in ("sum", "mean"):
        new, old = (each.sum(-1) if dims == "sum" else each.mean(-1) for each in (new, old))
        ratio = _formed(new, old, form)
    else:
        ratio = _formed(new, old, form)
        ratio = ratio.sum(-1) if dims == "ratios summed" else ratio.mean(-1)
    ratio = ratio - minus
    limit = min(capped, case["cap"])
    if cap != "none":
        ratio = np.minimum(ratio, limit) if cap == "above" else np.maximum(ratio, limit)
    return {"ratio": ratio, "column": ratio[:, None]}


def _formed(new: Array, old: Array, form: str) -> Array:
    ways: dict[str, Callable[[], Array]] = {
        "exp": lambda: np.exp(new - old),
        "inverted": lambda: np.exp(old - new),
        "log": lambda: new - old,
        "divided": lambda: new / old,
        "probabilities": lambda: np.exp(new) - np.exp(old),
        "new": lambda: np.exp(new),
        "one": lambda: np.ones_like(new),
        "logits": lambda: np.exp(new + RAISED["logp"] - old - RAISED["old_logp"]),
    }
    return np.asarray(ways[form]())


def _case(name: str, new: Any, old: Any, *, cap: float = FAR) -> Case:
    news, olds = floats(new), floats(old)
    return Case(
        name,
        {
            "logp_dims": news,
            "old_logp_dims": olds,
            "logp": news.sum(-1),
            "old_logp": olds.sum(-1),
            "cap": cap,
        },
        needs=frozenset({"cap"}) if cap < FAR else frozenset(),
    )


def cases() -> list[Case]:
    return [
        _case("one row, more likely than before", [[-0.5]], [[-1]]),
        _case("one row, less likely than before", [[-2]], [[-1]]),
        _case("two rows", [[-0.5], [-2]], [[-1], [-1.25]]),
        _case("two rows, as likely as before", [[-0.5], [-2]], [[-0.5], [-2]]),
        _case("two rows, actions of two dimensions", [[-0.5, -1], [-2, -0.25]], [[-1, -1.25], [-1.5, -0.5]]),
        _case(
            "four rows, actions of three dimensions",
            [[-0.5, -1, -0.5], [-2, -0.25, -1], [-1, -1, -2], [-0.5, -0.75, -1]],
            [[-1, -1.25, -1], [-1.5, -0.5, -0.5], [-1, -1.5, -1.5], [-0.25, -1, -1]],
        ),
        _case("three rows, capped at 1", [[-0.5], [-2], [-1]], [[-1], [-1.25], [-1.25]], cap=1.0),
        _case("three rows, capped at 2", [[-0.5], [-2], [-1]], [[-2], [-1.25], [-1.25]], cap=2.0),
    ]


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as arrays

    shape = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    quarters = arrays.arrays(np.int64, shape, elements=st.integers(-8, -1))
    return _case("drawn at random", draw(quarters) / 4.0, draw(quarters) / 4.0)


def _dims(of: Quantity, name: str, with_: str) -> Quantity:
    return Quantity(
        name, of.names, "ND", with_=(with_,), reserve=True, meaning=of.meaning + ", for each dimension of the action"
    )


_PROB = (
    "prob probs new_prob new_probs prob_new probs_new pi pi_new new_pi pi_a p target_prob target_probs probability "
    "policy_prob pi_theta"
)
_OLD_PROB = (
    "old_prob old_probs prob_old probs_old mu pi_old old_pi behavior_prob behaviour_prob behavior_probs "
    "behaviour_probs b old_probability pi_b q p_old"
)

IMPORTANCE_RATIO = Oracle(
    name="importance-ratio",
    aliases="ratio importance-weight importance-weights importance-sampling-ratio policy-ratio prob-ratio",
    code="POL160",
    summary="The importance ratio: the probability of an action now over that when it was taken.",
    formula="r = exp(Σ_d log π(a_d|s) − Σ_d log π_old(a_d|s))",
    example="def ratio(log_probs, old_log_probs)",
    references="Precup and others, *Eligibility traces for off-policy policy evaluation*.",
    quantities=(
        LOGP,
        OLD_LOGP,
        OLD_LOGP_PLAIN,
        NEG_LOGP,
        OLD_NEG_LOGP,
        Quantity("prob", _PROB, "N", of=lambda case: np.exp(case["logp"]), meaning="π(a|s)"),
        Quantity("old_prob", _OLD_PROB, "N", of=lambda case: np.exp(case["old_logp"]), meaning="π_old(a|s)"),
        Quantity("cap", "cap rho_bar clip_rho clip_rho_threshold max_ratio truncation c c_bar max_weight limit "
                 "importance_sampling_ratio_cap cap_value", None, "object", meaning="what the ratio is capped at"),
        _dims(LOGP, "logp_dims", "old_logp_dims"),
        _dims(OLD_LOGP, "old_logp_dims", "logp_dims"),
        _dims(OLD_LOGP_PLAIN, "old_logp_dims", "logp_dims"),
        Quantity("column", "", "NK", of=lambda case: case["logp"][:, None]),
        Quantity("logits", "logits new_logits logits_new policy_logits action_logits target_logits", "NA",
                 of=logits_of_two("logp"), with_=("old_logits", "choice"),
                 meaning="logits of the policy that is trained"),
        Quantity("old_logits", "old_logits logits_old behavior_logits behaviour_logits prev_logits", "NA",
                 of=logits_of_two("old_logp"), with_=("logits", "choice"), meaning="logits of the policy that acted"),
        Quantity("probs", "probs new_probs probs_new pi target_policy target_probs policy action_probs pi_new", "NA",
                 of=two_actions("logp"), with_=("old_probs", "choice"),
                 meaning="all probabilities of the policy that is trained"),
        Quantity("old_probs", "old_probs probs_old mu behaviour_policy behavior_policy behavior_probs behaviour_probs "
                 "old_policy pi_old b", "NA", of=two_actions("old_logp"), with_=("probs", "choice"),
                 meaning="all probabilities of the policy that acted"),
        TWO_CHOICE,
    ),
    outputs=(
        Output("ratio", "ratio ratios r importance_weights weights is_weights rho rhos prob_ratio", "N"),
        Output("column", "", "NK"),
    ),
    required=(
        "logp|neg_logp|logp_dims|prob|logits|probs",
        "old_logp|old_neg_logp|old_logp_dims|old_prob|old_logits|old_probs",
    ),
    columns=("logp_dims", "old_logp_dims"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    layouts=("(N,)",),
    styles=(Style("usual"), Style("truncated at 1", {"capped": 1.0})),
    mistakes=(
        Mistake(
            "POL161", "importance-ratio-inverted", "The ratio is old over new.",
            knobs={"form": "inverted"},
            wrong="ratio = (old_logp - logp).exp()",
            right="ratio = (logp - old_logp).exp()",
            harm="Weights and gradients point the other way: likelier actions count less.",
            fix="subtract the old log-probability from the new one",
        ),
        Mistake(
            "POL162", "importance-ratio-without-exp", "It is a difference of logs: exp is missing.",
            knobs={"form": "log"},
            wrong="ratio = logp - old_logp",
            right="ratio = (logp - old_logp).exp()",
            harm="The ratio of a policy to itself is 0, not 1.",
            fix="take the exp of the difference",
            fine="Where the log of the ratio is meant.",
        ),
        Mistake(
            "POL163", "importance-ratio-logs-divided", "Log-probabilities are divided by each other.",
            knobs={"form": "divided"},
            wrong="ratio = logp / old_logp",
            right="ratio = (logp - old_logp).exp()",
            harm="The ratio grows as the action becomes less likely.",
            fix="divide probabilities, or take the exp of the difference of logs",
        ),
        Mistake(
            "POL164", "importance-ratio-probabilities-subtracted", "Probabilities are subtracted, not divided.",
            knobs={"form": "probabilities"},
            wrong="ratio = logp.exp() - old_logp.exp()",
            right="ratio = (logp - old_logp).exp()",
            harm="The ratio of a policy to itself is 0, not 1.",
            fix="subtract the logs first and take the exp after that",
        ),
        Mistake(
            "POL165", "importance-ratio-old-ignored", "The probability is not divided by the old one.",
            knobs={"form": "new"},
            wrong="ratio = logp.exp()",
            right="ratio = (logp - old_logp).exp()",
            harm="Actions are weighed by how likely they are, so rare ones are not learned from.",
            fix="subtract the log-probability under the policy that acted",
        ),
        Mistake(
            "POL166", "importance-ratio-always-one", "The ratio is 1 whatever the policies are.",
            knobs={"form": "one"},
            wrong="ratio = (logp - logp.detach()).exp()",
            right="ratio = (logp - old_logp).exp()",
            harm="Clipping never takes hold, and old data counts as if it were new.",
            fix="use the log-probability that was stored when the action was taken",
        ),
        Mistake(
            "POL167", "importance-ratio-dimensions-averaged", "Logs are averaged over the action's dimensions.",
            knobs={"dims": "mean"},
            wrong="ratio = (logp - old_logp).mean(-1).exp()",
            right="ratio = (logp - old_logp).sum(-1).exp()",
            harm="The ratio is nearer to 1 the more dimensions an action has, so clipping takes hold too late.",
            fix="sum over the dimensions of the action",
        ),
        Mistake(
            "POL168", "importance-ratio-summed-after-exp", "Ratios of the dimensions are added up, not multiplied.",
            knobs=({"dims": "ratios summed"}, {"dims": "ratios averaged"}),
            wrong="ratio = (logp - old_logp).exp().sum(-1)",
            right="ratio = (logp - old_logp).sum(-1).exp()",
            harm="The ratio of a policy to itself is the number of dimensions, not 1.",
            fix="sum the logs over the dimensions before exp",
        ),
        Mistake(
            "POL169", "importance-ratio-minus-one", "1 is subtracted from the ratio.",
            knobs={"minus": 1.0},
            wrong="ratio = torch.expm1(logp - old_logp)",
            right="ratio = torch.exp(logp - old_logp)",
            harm="The ratio of a policy to itself is 0, not 1.",
            fix="leave the ratio as it is",
        ),
        Mistake(
            "POL172", "importance-ratio-logits-not-normalised", "Logits are used as if they were logs.",
            knobs={"form": "logits"},
            wrong="ratio = (logits - old_logits).gather(1, actions[:, None]).exp()",
            right="ratio = (logits.log_softmax(1) - old_logits.log_softmax(1)).gather(1, actions[:, None]).exp()",
            harm="A constant added to all logits changes the ratio.",
            fix="apply log_softmax to the logits",
        ),
        Mistake(
            "POL170", "importance-ratio-cap-from-below", "The ratio is held above the cap, not below it.",
            knobs={"cap": "below"},
            wrong="ratio = torch.clamp(ratio, min=cap)",
            right="ratio = torch.clamp(ratio, max=cap)",
            harm="Large ratios stay large, which is what the cap is there to stop.",
            fix="take the minimum of the ratio and the cap",
        ),
        Mistake(
            "POL171", "importance-ratio-cap-ignored", "The cap is taken but not applied.",
            knobs={"cap": "none"},
            wrong="rho = (logp - old_logp).exp()",
            right="rho = (logp - old_logp).exp().clamp(max=rho_bar)",
            harm="A few rows with large ratios rule the update.",
            fix="take the minimum of the ratio and the cap",
        ),
    ),
)  # fmt: skip
