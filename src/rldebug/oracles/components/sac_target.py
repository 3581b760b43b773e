"""The critics' target of soft actor-critic."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from rldebug.oracles.material.replayed import FLAGS, GAMMA_NAME, N_STEPS, REWARD, fair, mask_of, remarks
from rldebug.oracles.material.twin_tables import (
    ACTIONS,
    ARRAYS,
    CRITICS,
    CURRENT_ACTION,
    CURRENT_LOGP,
    NEXT_OBS,
    OBS,
    SLOPES,
    Actor,
    ActorCritic,
    both_states,
    cases,
    drawn,
    either,
    objects,
    rebuild,
    twins_of,
)
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Quantity, Values


def reference(case: Case) -> Values:
    target = np.zeros(len(case["reward"]))
    for i in range(len(target)):
        target[i] = case["reward"][i]
        if not case["terminated"][i]:
            least = min(case["next_q1"][i], case["next_q2"][i])
            entropy = -case["alpha"] * case["next_logp"][i]
            target[i] += case["gamma"] ** case["n"] * (least + entropy)
    return {"target": target}


def variant(
    case: Case,
    *,
    mask: str = "terminated",
    masks_reward: bool = False,
    twins: str = "min",  # min, max, mean, first, second
    critics: str = "target",  # target, online
    entropy: float = 1.0,  # 0: left out, −1: of the wrong sign
    alpha: str = "alpha",  # alpha, one, log
    place: str = "inside",  # of the entropy: inside, outside (neither mask nor γ), masked (no γ)
    gamma_power: int = 1,
    axes: tuple[int, int, int, int] = (0, 0, 0, 0),  # of reward, mask, value, entropy
    actor: str = "next",  # which state the actor is asked about: next, current
) -> Values:
    apart, logp = 0.0, case["next_logp"]
    if actor == "current":
        apart, logp = CURRENT_ACTION, logp + CURRENT_LOGP
    values, bonus = _values(case, twins, critics, apart), -entropy * _factor(case, alpha) * logp
    kept, gained = mask_of(case, mask), case["reward"]
    if masks_reward:
        gained = gained * kept
    if len(set(axes)) > 1:
        gained, kept, values, bonus = (
            each[:, None] if axis else each[None, :]
            for each, axis in zip((gained, kept, values, bonus), axes, strict=True)
        )
    steps = case["gamma"] ** case["n"]
    factor = {0: 1.0, 1: steps, 2: steps * case["gamma"]}[gamma_power]
    if place == "inside":
        return {"target": gained + factor * kept * (values + bonus)}
    return {"target": gained + factor * kept * values + (kept * bonus if place == "masked" else bonus)}


def _factor(case: Case, alpha: str) -> float:
    return float({"alpha": case["alpha"], "one": 1.0, "log": np.log(case["alpha"])}[alpha])


def _values(case: Case, twins: str, critics: str, apart: float) -> Array:
    first, second = case["next_q1"] + SLOPES[0] * apart, case["next_q2"] + SLOPES[1] * apart
    if critics == "online":
        first, second = case["online_q1"] + SLOPES[2] * apart, case["online_q2"] + SLOPES[3] * apart
    both = np.stack([first, second])
    chosen = {"min": both.min(0), "max": both.max(0), "mean": both.mean(0), "first": both[0], "second": both[1]}
    return np.asarray(chosen[twins])


def told(case: Case, bound: frozenset[str]) -> Case:
    changed: dict[str, Any] = {} if "n" in bound else {"n": 1}
    free = {each.removesuffix(" flat") for each in bound}
    if free & {"twins", "critic1", "pair"} and not free & {"target_twins", "target_critic1", "target_pair", "next_q1"}:
        changed |= {"next_q1": case["online_q1"], "next_q2": case["online_q2"]}  # there are no others
    if "target_critic1" in free and "target_critic2" not in free:
        changed["next_q2"] = changed.get("next_q1", case["next_q1"])
    return case.but(**changed) if changed else case


def _actors() -> tuple[Quantity, ...]:
    names = (
        "actor policy pi policy_net actor_net actor_network policy_network agent_net actor_critic act_net agent "
        "current_actor online_actor"
    )

    def make(gives: int) -> Any:
        return lambda case, column: _actor(case, column, gives)

    return tuple(q for gives in (3, 2) for q in objects("actor", names, make(gives), "the actor"))


def _actor(case: Case, column: bool, gives: int) -> Actor:
    action, logp = both_states(case["next_action"], CURRENT_ACTION), both_states(case["next_logp"], CURRENT_LOGP)
    return Actor(action, logp, column, gives)


def _pair(case: Case, column: bool, first: int) -> ActorCritic:
    return ActorCritic(_actor(case, column, 2), twins_of(case, first, column))


_ALPHA = (
    "alpha ent_coef entropy_coef temperature temp entropy_coefficient ent_coeff ent_alpha entropy_weight alpha_value "
    "entropy_temperature"
)
_LOG_ALPHA = "log_alpha log_ent_coef log_temp log_temperature"
_RIGHT = "target = r + gamma * (1 - terminated) * (min(q1, q2) - alpha * next_logp)"
_COLUMN = (
    (1, 1, 0, 0),
    (0, 0, 1, 1),
    (0, 0, 0, 1),
    (0, 0, 1, 0),
    (1, 0, 0, 0),
    (0, 1, 1, 1),
    (1, 1, 1, 0),
    (1, 1, 0, 1),
)

SAC_TARGET = Oracle(
    name="sac-target",
    aliases="sac soft-q-target sac-critic-target soft-bellman-target",
    code="VAL170",
    summary="The target of soft actor-critic: reward, plus the discounted lower value and entropy.",
    formula="y = r + γⁿ (1 − terminated) (min(Q₁, Q₂)(s′, a′) − α log π(a′|s′))",
    example="def sac_target(rewards, dones, next_q1, next_q2, next_logp, alpha, gamma)",
    references="Haarnoja and others, *Soft actor-critic algorithms and applications*.",
    quantities=(
        REWARD, *ARRAYS, *FLAGS, GAMMA_NAME, N_STEPS,
        Quantity("next_logp", "next_logp next_log_prob next_log_probs next_log_pi log_pi_next logp_next next_logpi "
                 "logp log_prob log_probs log_pi logp_a2 next_state_log_pi log_prob_next next_logps logp_pi log_pis "
                 "next_log_p logpi next_action_log_prob next_log_pis logp_tp1 next_logprob next_logprobs logp_a_next "
                 "log_probs_next log_pis_next", "N", meaning="log π(a′|s′)"),
        Quantity("alpha", _ALPHA, meaning="α"),
        Quantity("alpha", _ALPHA, None, of=lambda case: torch.tensor(float(case["alpha"])), meaning="α, as a tensor"),
        Quantity("log_alpha", _LOG_ALPHA, kind="int", of=lambda case: float(np.log(case["alpha"])), meaning="log α"),
        Quantity("log_alpha", _LOG_ALPHA, None, of=lambda case: torch.tensor(float(np.log(case["alpha"]))),
                 meaning="log α, as a tensor"),
        *CRITICS, *_actors(), NEXT_OBS, OBS, ACTIONS,
        *objects("target_pair", "ac_targ target_ac ac_target actor_critic_target",
                 lambda c, column: _pair(c, column, 0), "actor and target critics"),
        *objects("pair", "ac actor_critic", lambda c, column: _pair(c, column, 2), "actor and online critics"),
    ),
    outputs=(
        Output("target", "td_target td_targets y ys backup q_backup expected_q td_target_values", "N"),
    ),
    required=(
        "reward",
        either("next_q1", "next_qs", "least_q", "target_critic1", "target_twins", "target_pair", "twins", "critic1",
               "pair"),
        either("next_logp", "actor", "pair", "target_pair"),
    ),
    columns=("reward", "terminated", "truncated", "next_q1", "next_q2", "next_logp"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=fair,
    told=told,
    remarks=remarks,
    rebuild=rebuild,
    mistakes=(
        Mistake(
            "VAL171", "sac-target-mask-missing", "The value after a terminal step is added, as if the episode went on.",
            knobs={"mask": "nothing"},
            wrong="target = r + gamma * (min(q1, q2) - alpha * next_logp)",
            right=_RIGHT,
            harm="A state that ends the episode is worth what the next episode begins with; values grow without end.",
            fix="multiply by 1 − terminated",
        ),
        Mistake(
            "VAL172", "sac-target-mask-inverted", "The bootstrap is added where the episode ended, and only there.",
            knobs=({"mask": "inverted"}, {"mask": "inverted-done"}),
            wrong="target = r + gamma * done * (min(q1, q2) - alpha * next_logp)",
            right=_RIGHT,
            harm="Nothing is carried from one state to the one before it.",
            fix="multiply by 1 − terminated, not by terminated",
        ),
        Mistake(
            "VAL173", "sac-target-truncation-as-termination", "A time limit counts as an end: nothing is bootstrapped.",
            knobs={"mask": "done"},
            wrong="target = r + gamma * (1 - (terminated | truncated)) * (min(q1, q2) - alpha * next_logp)",
            right=_RIGHT,
            harm="States met near the time limit are worth less than they are.",
            fix="mask with terminated alone",
            fine="Where the time left is part of the observation.",
        ),
        Mistake(
            "VAL174", "sac-target-max-for-min", "The higher of the two critics is taken, not the lower.",
            knobs={"twins": "max"},
            wrong="torch.max(q1, q2)",
            right="torch.min(q1, q2)",
            harm="Overestimates are chosen on purpose: values run away.",
            fix="take the minimum of both critics",
        ),
        Mistake(
            "VAL175", "sac-target-mean-of-twins", "The two critics are averaged; the lower one is to be taken.",
            knobs={"twins": "mean"},
            wrong="(q1 + q2) / 2",
            right="torch.min(q1, q2)",
            harm="Overestimates are kept.",
            fix="take the minimum of both critics",
            fine="In variants that average on purpose.",
        ),
        Mistake(
            "VAL176", "sac-target-one-critic", "One of the two critics is not used.",
            knobs=({"twins": "first"}, {"twins": "second"}),
            wrong="q1 - alpha * next_logp",
            right="torch.min(q1, q2) - alpha * next_logp",
            harm="Overestimates are kept.",
            fix="take the minimum of both critics",
        ),
        Mistake(
            "VAL177", "sac-target-entropy-sign", "The entropy has the wrong sign: α log π is added.",
            knobs={"entropy": -1.0},
            wrong="min(q1, q2) + alpha * next_logp",
            right="min(q1, q2) - alpha * next_logp",
            harm="States where the policy is certain are worth more: exploration dies early.",
            fix="subtract α log π",
        ),
        Mistake(
            "VAL178", "sac-target-alpha-missing", "The entropy is not multiplied by α.",
            knobs={"alpha": "one"},
            wrong="min(q1, q2) - next_logp",
            right="min(q1, q2) - alpha * next_logp",
            harm="The entropy weighs as if α were 1, whatever the temperature.",
            fix="multiply log π by α",
        ),
        Mistake(
            "VAL179", "sac-target-entropy-missing", "The entropy is left out of the target.",
            knobs={"entropy": 0.0},
            wrong="target = r + gamma * (1 - done) * min(q1, q2)",
            right=_RIGHT,
            harm="The actor is rewarded for entropy that the critics know nothing of.",
            fix="subtract α log π from the lower value",
            fine="In variants that leave it out on purpose.",
        ),
        Mistake(
            "VAL180", "sac-target-log-alpha-as-alpha", "log α is used where α should be.",
            knobs={"alpha": "log"},
            wrong="min(q1, q2) - log_alpha * next_logp",
            right="min(q1, q2) - log_alpha.exp() * next_logp",
            harm="Where α < 1 the entropy has the wrong sign.",
            fix="take the exponential of log α",
        ),
        Mistake(
            "VAL181", "sac-target-entropy-outside", "The entropy is outside the mask, or outside the discount.",
            knobs=({"place": "outside"}, {"place": "masked"}),
            wrong="target = r + gamma * (1 - done) * min(q1, q2) - alpha * next_logp",
            right=_RIGHT,
            harm="Terminal states are worth the entropy of a step that never happens.",
            fix="put the entropy into the parentheses, beside the lower value",
            seen_in="DLR-RM/stable-baselines3 PR #77",
        ),
        Mistake(
            "VAL182", "sac-target-online-critics",
            "The target comes from the online critics, not from the target ones.",
            knobs={"critics": "online"},
            wrong="q1, q2 = qf1(next_obs, a), qf2(next_obs, a)",
            right="q1, q2 = qf1_target(next_obs, a), qf2_target(next_obs, a)",
            harm="The target moves with every update that chases it.",
            fix="evaluate the next action with the target critics",
            fine="For methods that do without target networks on purpose.",
        ),
        Mistake(
            "VAL183", "sac-target-gamma-missing", "The next value is not discounted.",
            knobs={"gamma_power": 0},
            wrong="target = r + (1 - done) * (min(q1, q2) - alpha * next_logp)",
            right=_RIGHT,
            harm="Values grow with the length of the episode, or without end.",
            fix="multiply the bootstrap by γ",
        ),
        Mistake(
            "VAL184", "sac-target-broadcast", "Shapes (N, 1) and (N,) are mixed: N × N targets come out, not N.",
            knobs=tuple({"axes": each} for each in _COLUMN),
            wrong="r.view(-1, 1) + gamma * (1 - done).view(-1, 1) * (min(q1, q2).view(-1) - alpha * next_logp)",
            right=_RIGHT,
            harm="Every prediction is pulled towards the mean of the whole batch.",
            fix="give all the same shape",
            seen_in="vwxyzjn/cleanrl issue #379",
        ),
        Mistake(
            "VAL168", "sac-target-action-of-current-state", "The actor is asked about s, and the critics about s′.",
            knobs={"actor": "current"},
            wrong="a, logp = actor(obs); q = qf_target(next_obs, a)",
            right="a, logp = actor(next_obs); q = qf_target(next_obs, a)",
            harm="The next state is valued at an action that is meant for another state.",
            fix="hand the next observation to the actor",
        ),
    ),
)  # fmt: skip
