"""The critics' target of TD3: the lower of two critics, at an action with clipped noise."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from rldebug.oracles.bind import SignatureError, method_of
from rldebug.oracles.material.not_random import not_random
from rldebug.oracles.material.replayed import FLAGS, GAMMA_NAME, N_STEPS, REWARD, fair, mask_of
from rldebug.oracles.material.replayed import remarks as flag_remarks
from rldebug.oracles.material.twin_tables import (
    ACTIONS,
    ARRAYS,
    CRITICS,
    CURRENT_ACTION,
    NEXT_OBS,
    OBS,
    SIGMA,
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
        if case["terminated"][i]:
            continue
        apart = 0.0
        if case["smoothed"]:
            noise = min(max(case["policy_noise"] * case["noise"][i], -case["noise_clip"]), case["noise_clip"])
            action = case["next_action"][i] + noise
            apart = min(max(action, -case["max_action"]), case["max_action"]) - case["next_action"][i]
        first, second = case["next_q1"][i] + SLOPES[0] * apart, case["next_q2"][i] + SLOPES[1] * apart
        target[i] += case["gamma"] ** case["n"] * min(first, second)
    return {"target": target}


def variant(
    case: Case,
    *,
    mask: str = "terminated",
    twins: str = "min",  # min, max, mean, first, second
    critics: str = "target",  # target, online
    actor: str = "target",  # target, online, batch: the action that was taken, current: that of s
    noise: str = "clipped",  # clipped, whole, clipped-first, none, same: one number for all rows
    bounded: bool = True,
    gamma_power: int = 1,
    axes: tuple[int, int, int] = (0, 0, 0),  # of reward, mask, value
) -> Values:
    values = _values(case, twins, critics, _apart(case, actor, noise, bounded))
    kept, gained = mask_of(case, mask), case["reward"]
    if len(set(axes)) > 1:
        gained, kept, values = (
            each[:, None] if axis else each[None, :] for each, axis in zip((gained, kept, values), axes, strict=True)
        )
    steps = case["gamma"] ** case["n"]
    return {"target": gained + {0: 1.0, 1: steps, 2: steps * case["gamma"]}[gamma_power] * kept * values}


def _apart(case: Case, actor: str, noise: str, bounded: bool) -> Array:
    """How far the action that is valued lies from a′ of the target actor."""
    action = case[
        {"target": "next_action", "online": "online_action", "batch": "action", "current": "next_action"}[actor]
    ]
    if actor == "current":
        action = action + CURRENT_ACTION
    if not case["smoothed"]:
        return np.asarray(action - case["next_action"])
    drawn_noise, sigma, clip = case["noise"], case["policy_noise"], case["noise_clip"]
    added = {
        "clipped": np.clip(sigma * drawn_noise, -clip, clip),
        "whole": sigma * drawn_noise,
        "clipped-first": sigma * np.clip(drawn_noise, -clip, clip),
        "none": np.zeros_like(drawn_noise),
        "same": np.clip(sigma * np.full_like(drawn_noise, drawn_noise[0]), -clip, clip),
    }[noise]
    moved = action + added
    moved = np.clip(moved, -case["max_action"], case["max_action"]) if bounded else moved
    return np.asarray(moved - case["next_action"])


def _values(case: Case, twins: str, critics: str, apart: Array) -> Array:
    names, slopes = ("next_q1", "next_q2"), SLOPES[:2]
    if critics == "online":
        names, slopes = ("online_q1", "online_q2"), SLOPES[2:]
    if case["single"]:
        names, slopes = (names[0],) * 2, (slopes[0],) * 2
    both = np.stack([case[name] + slope * apart for name, slope in zip(names, slopes, strict=True)])
    chosen = {"min": both.min(0), "max": both.max(0), "mean": both.mean(0), "first": both[0], "second": both[1]}
    return np.asarray(chosen[twins])


def adapt(target: Any) -> Callable[..., Any] | None:
    if isinstance(target, type):
        try:
            target = method_of(target, TD3_TARGET)
        except SignatureError:  # which the caller tells
            return None
    if not callable(target):
        return None

    @functools.wraps(target)
    def called(*args: Any, **kwargs: Any) -> Any:
        with not_random():
            return target(*args, **kwargs)

    return called


def told(case: Case, bound: frozenset[str]) -> Case:
    """The noise is added where an actor is handed over; as it is, where no deviation says how to scale it."""
    free = {each.removesuffix(" flat") for each in bound}
    actors = bool(free & {"target_actor", "actor", "pair", "target_pair", "next_action"})
    changed: dict[str, Any] = {} if "n" in bound else {"n": 1}
    if "noise" in bound and "policy_noise" not in bound:
        changed["policy_noise"] = 1.0
    untold = not bound & {"policy_noise", "noise"} and case["policy_noise"] == SIGMA
    changed["smoothed"] = actors and not untold
    if not bound & {"max_action", "min_action"}:
        changed["max_action"] = 1.0
        changed |= {name: case[name] / 2.0 for name in ("next_action", "online_action", "action")}
    if not free & {"target_actor", "target_pair"}:  # there is but one actor
        changed["online_action"] = changed.get("next_action", case["next_action"])
    changed["single"] = "target_critic1" in free and "target_critic2" not in free
    if free & {"twins", "critic1", "pair"} and not free & {"target_twins", "target_critic1", "target_pair"}:
        changed |= {"next_q1": case["online_q1"], "next_q2": case["online_q2"]}
    return case.but(**changed)


def remarks(bound: frozenset[str]) -> list[str]:
    said = flag_remarks(bound)
    free = {each.removesuffix(" flat") for each in bound}
    if "target_critic1" in free and "target_critic2" not in free:
        said.append("it takes one critic: this is the target of DDPG")
    if not bound & {"policy_noise", "noise"}:
        said.append(
            "it takes no noise: whether the target policy is smoothed is not judged here, unless it does so itself"
        )
    return said


def _actor(case: Case, field: str) -> Actor:
    return Actor(both_states(case[field], CURRENT_ACTION), None, True, 1)


def _pair(case: Case, column: bool, first: int) -> ActorCritic:
    field = "next_action" if first == 0 else "online_action"
    return ActorCritic(_actor(case, field), twins_of(case, first, column))


def _cases() -> list[Case]:
    return [each.but(smoothed=True, single=False) for each in cases()]


_RIGHT = "target = r + gamma * (1 - terminated) * torch.min(q1, q2)"
_ACTION = "a = (actor_target(next_obs) + (randn_like(a) * sigma).clamp(-c, c)).clamp(low, high)"

TD3_TARGET = Oracle(
    name="td3-target",
    aliases="td3 ddpg-target ddpg clipped-double-q-target td3-critic-target",
    code="VAL185",
    summary="The target of TD3: the lower of two critics, at the target action with clipped noise.",
    formula="y = r + γⁿ (1 − terminated) min(Q₁, Q₂)(s′, clip(π(s′) + clip(σ ε, −c, c), low, high))",
    example="def td3_target(rewards, dones, next_q1, next_q2, gamma)",
    references="Fujimoto and others, *Addressing function approximation error in actor-critic methods*.",
    quantities=(
        REWARD, *ARRAYS, *FLAGS, GAMMA_NAME, N_STEPS, *CRITICS, NEXT_OBS, OBS, ACTIONS,
        *objects("target_actor", "actor_target target_actor pi_target policy_target target_policy actor_targ target_pi "
                 "target_policy_net actor_net_target target_actor_net pi_targ policy_net_target",
                 lambda case, column: _actor(case, "next_action"), "the target actor"),
        *objects("actor", "actor policy pi policy_net actor_net", lambda case, column: _actor(case, "online_action"),
                 "the online actor"),
        *objects("target_pair", "ac_targ target_ac ac_target", lambda case, column: _pair(case, column, 0),
                 "target actor and critics"),
        *objects("pair", "ac actor_critic", lambda case, column: _pair(case, column, 2), "online actor and critics"),
        Quantity("noise", "noise eps epsilon next_noise action_noise target_action_noise", "NK",
                 of=lambda case: case["noise"][:, None], meaning="normal noise"),
        Quantity("policy_noise", "policy_noise target_policy_noise target_noise noise_std sigma smoothing_std "
                 "target_noise_std smooth_sigma noise_sigma std noise_scale policy_noise_std smoothing_noise noise",
                 meaning="standard deviation of the noise"),
        Quantity("noise_clip", "noise_clip target_noise_clip clip noise_clipping c noise_limit noise_bound clip_noise "
                 "target_noise_bound", meaning="where the noise is clipped"),
        Quantity("max_action", "max_action act_limit action_limit a_max high action_high max_act action_max "
                 "action_bound act_high action_space_high limit", kind="int", meaning="largest action"),
        Quantity("min_action", "min_action low action_low min_act action_min act_low action_space_low a_min",
                 kind="int", of=lambda case: -case["max_action"], meaning="smallest action"),
        Quantity("action_scale", "action_scale", kind="int", of=lambda case: 1.0, meaning="scale of actions: 1"),
    ),
    outputs=(
        Output("target", "td_target td_targets y ys backup q_backup expected_q td_target_values", "N"),
    ),
    required=(
        "reward",
        either("next_q1", "next_qs", "least_q", "target_critic1", "target_twins", "target_pair", "twins", "critic1",
               "pair"),
    ),
    columns=("reward", "terminated", "truncated", "next_q1", "next_q2", "next_action", "noise"),
    reference=reference,
    variant=variant,
    cases=_cases,
    drawn=lambda draw: drawn(draw).but(smoothed=True, single=False),
    fair=fair,
    told=told,
    remarks=remarks,
    rebuild=lambda given: rebuild(given).but(smoothed=False, single=False),
    adapt=adapt,
    mistakes=(
        Mistake(
            "VAL186", "td3-target-mask-missing", "The value after a terminal step is added, as if the episode went on.",
            knobs={"mask": "nothing"},
            wrong="target = r + gamma * torch.min(q1, q2)",
            right=_RIGHT,
            harm="A state that ends the episode is worth what the next episode begins with; values grow without end.",
            fix="multiply by 1 − terminated",
        ),
        Mistake(
            "VAL187", "td3-target-mask-inverted", "The bootstrap is added where the episode ended, and only there.",
            knobs=({"mask": "inverted"}, {"mask": "inverted-done"}),
            wrong="target = r + gamma * done * torch.min(q1, q2)",
            right=_RIGHT,
            harm="Nothing is carried from one state to the one before it.",
            fix="multiply by 1 − terminated, not by terminated",
        ),
        Mistake(
            "VAL188", "td3-target-truncation-as-termination", "A time limit counts as an end: nothing is bootstrapped.",
            knobs={"mask": "done"},
            wrong="target = r + gamma * (1 - (terminated | truncated)) * torch.min(q1, q2)",
            right=_RIGHT,
            harm="States met near the time limit are worth less than they are.",
            fix="mask with terminated alone",
            fine="Where the time left is part of the observation.",
        ),
        Mistake(
            "VAL189", "td3-target-max-for-min", "The higher of the two critics is taken, not the lower.",
            knobs={"twins": "max"},
            wrong="torch.max(q1, q2)",
            right="torch.min(q1, q2)",
            harm="Overestimates are chosen on purpose: values run away.",
            fix="take the minimum of both critics",
        ),
        Mistake(
            "VAL190", "td3-target-mean-of-twins", "The two critics are averaged; the lower one is to be taken.",
            knobs={"twins": "mean"},
            wrong="(q1 + q2) / 2",
            right="torch.min(q1, q2)",
            harm="Overestimates are kept.",
            fix="take the minimum of both critics",
            fine="In variants that average on purpose.",
        ),
        Mistake(
            "VAL191", "td3-target-one-critic", "One of the two critics is not used.",
            knobs=({"twins": "first"}, {"twins": "second"}),
            wrong="target = r + gamma * (1 - done) * q1",
            right=_RIGHT,
            harm="Overestimates are kept: this is the target of DDPG.",
            fix="take the minimum of both critics",
        ),
        Mistake(
            "VAL192", "td3-target-noise-not-clipped", "The noise is not clipped, or is clipped before it is scaled.",
            knobs=({"noise": "whole"}, {"noise": "clipped-first"}),
            wrong="noise = torch.randn_like(a) * sigma",
            right="noise = (torch.randn_like(a) * sigma).clamp(-c, c)",
            harm="The target is taken at actions far from the policy's.",
            fix="scale the noise, then clip it",
        ),
        Mistake(
            "VAL193", "td3-target-action-not-clipped", "The noisy action is not clipped to the range of actions.",
            knobs={"bounded": False},
            wrong="a = actor_target(next_obs) + noise",
            right=_ACTION,
            harm="The critics are asked about actions that cannot be taken.",
            fix="clip the action after the noise was added",
        ),
        Mistake(
            "VAL194", "td3-target-smoothing-missing", "Noise is asked for, and none is added to the target action.",
            knobs={"noise": "none"},
            wrong="a = actor_target(next_obs)",
            right=_ACTION,
            harm="The policy exploits narrow peaks of the critics.",
            fix="add clipped noise to the target action",
        ),
        Mistake(
            "VAL195", "td3-target-noise-shared", "All rows get the same noise.",
            knobs={"noise": "same"},
            wrong="noise = (torch.randn_like(actions[0]) * sigma).clamp(-c, c)",
            right="noise = (torch.randn_like(actions) * sigma).clamp(-c, c)",
            harm="The target is not smoothed but shifted, by another amount in each update.",
            fix="draw noise for each row",
            seen_in="vwxyzjn/cleanrl PR #281",
        ),
        Mistake(
            "VAL196", "td3-target-online-networks", "An online network is used where its target should be.",
            knobs=({"critics": "online"}, {"actor": "online"}, {"critics": "online", "actor": "online"}),
            wrong="a = actor(next_obs)",
            right="a = actor_target(next_obs)",
            harm="The target moves with every update that chases it.",
            fix="use the target actor and the target critics",
        ),
        Mistake(
            "VAL197", "td3-target-gamma-missing", "The next value is not discounted.",
            knobs={"gamma_power": 0},
            wrong="target = r + (1 - done) * torch.min(q1, q2)",
            right=_RIGHT,
            harm="Values grow with the length of the episode, or without end.",
            fix="multiply the bootstrap by γ",
        ),
        Mistake(
            "VAL198", "td3-target-broadcast", "Shapes (N, 1) and (N,) are mixed: N × N targets come out, not N.",
            knobs=tuple({"axes": each} for each in ((1, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 1), (0, 1, 0), (1, 0, 1))),
            wrong="r.view(-1, 1) + gamma * (1 - done).view(-1, 1) * torch.min(q1, q2).view(-1)",
            right=_RIGHT,
            harm="Every prediction is pulled towards the mean of the whole batch.",
            fix="give all the same shape",
            seen_in="thu-ml/tianshou PR #155",
        ),
        Mistake(
            "VAL199", "td3-target-action-taken", "The next state is valued at the action taken in the state before.",
            knobs=({"actor": "batch", "noise": "none", "bounded": False}, {"actor": "batch"}),
            wrong="q1 = qf1_target(next_obs, actions)",
            right="q1 = qf1_target(next_obs, actor_target(next_obs) + noise)",
            harm="The critics learn what follows if the action is repeated.",
            fix="ask the target actor for the next action",
        ),
        Mistake(
            "VAL169", "td3-target-action-of-current-state", "The actor is asked about s, and the critics about s′.",
            knobs={"actor": "current"},
            wrong="q1 = qf1_target(next_obs, actor_target(obs))",
            right="q1 = qf1_target(next_obs, actor_target(next_obs))",
            harm="The next state is valued at an action that is meant for another state.",
            fix="hand the next observation to the target actor",
        ),
    ),
)  # fmt: skip
