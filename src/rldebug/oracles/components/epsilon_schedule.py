"""The schedule of ε: from a start to an end, by steps or by the share of the training that is left."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rldebug.evidence.verification import Verification
from rldebug.oracles.material.schedules import CLOCK, adapt, examine
from rldebug.oracles.oracle import Case, Mistake, Oracle, Output, Quantity, Style, Values


def reference(case: Case) -> Values:
    t, start, end, duration = case["t"], case["first"], case["last"], case["span"]
    if t >= duration:
        return {"epsilon": np.asarray(end)}
    return {"epsilon": np.asarray(start * (duration - t) / duration + end * t / duration)}


def variant(
    case: Case,
    *,
    kind: str = "linear",  # linear, exponential, towards-zero, multiplied, by-rate …: the styles below
    late: int = 0,  # steps are counted from so much
    clamp: str = "end",  # end, nothing, zero, other side
    swapped: bool = False,
    sign: float = 1.0,
    span: str = "span",  # span, total
    whole: bool = False,
    reach: str = "difference",  # difference, start
    over: bool = False,
    frozen: bool = False,
    added: bool = True,  # the end is added to what falls to 0
    fall: str = "",  # at-once, product: how it falls in the first step
) -> Values:
    start, end, duration = case["first"], case["last"], case["total" if span == "total" else "span"]
    t = float(case["t"]) + late
    if swapped:
        start, end = end, start
    if over:
        t = t % duration
    if frozen:
        t = 0.0
    share = float(t // duration) if whole else t / duration
    if fall:
        share = {"at-once": t, "at-once-and-a-bit": t - 1.0 / duration, "product": t * duration}[fall]
    value = _value(kind, case, t, share, start, end, sign, reach)
    if not added:
        return {"epsilon": np.asarray(max(value, end) - end)}
    low, high = min(start, end), max(start, end)
    if clamp == "end" and kind.endswith("until below"):
        value = _until_below(kind, case, int(t), start, end)
    elif clamp == "end":
        value = max(value, low) if start >= end else min(value, high)
    elif clamp == "zero":
        value = max(value, 0.0)
    elif clamp == "other side":
        value = min(value, low)
    return {"epsilon": np.asarray(value)}


def _until_below(kind: str, case: Case, t: int, start: float, end: float) -> float:
    """It falls as long as it is above the end, and stays where that leaves it."""
    for _ in range(t):
        if start <= end:
            break
        start = start * case["factor"] if kind.startswith("multiplied") else start - case["rate"]
    return float(start)


def _value(kind: str, case: Case, t: float, share: float, start: float, end: float, sign: float, reach: str) -> float:
    way = start - end if reach == "difference" else start
    factor, rate = case["factor"], case["rate"]
    ways: dict[str, Callable[[], float]] = {
        "linear": lambda: end + way - sign * share * (start - end if reach == "difference" else start),
        "exponential": lambda: end + way * math.exp(-sign * share),
        "exponential, stopped": lambda: start * math.exp(-sign * share),
        "towards-zero": lambda: start - sign * share,
        "towards-zero, scaled": lambda: start * (1.0 - sign * share),
        "geometric": lambda: start * (end / start) ** (sign * min(share, 1.0)) if start > 0 < end else math.nan,
        "cosine": lambda: end + way * (1.0 + math.cos(math.pi * min(share, 1.0))) / 2.0,
        "multiplied": lambda: start * factor ** (sign * t),
        "multiplied, towards the end": lambda: end + way * factor ** (sign * t),
        "multiplied, until below": lambda: start * factor ** (sign * t),
        "by-rate, until below": lambda: start - sign * rate * t,
        "by-rate": lambda: start - sign * rate * t,
        "exponential by rate": lambda: end + way * math.exp(-sign * rate * t),
        "exponential by rate, stopped": lambda: start * math.exp(-sign * rate * t),
    }
    try:
        return ways[kind]()
    except (OverflowError, ZeroDivisionError):
        return math.inf


def told(case: Case, bound: frozenset[str]) -> Case:
    """What the function does not take: it starts at 1, ends at 0; with no step it is the first one."""
    given = case.given
    changed: dict[str, Any] = {}
    if "start" not in bound:
        own = given.get("start", 1.0)
        changed["first"] = 1.0 if own == given.get("end") else own
    if "end" not in bound:
        changed["last"] = given.get("end", 0.0)
    if not {"t", "progress", "clock"} & bound:
        changed["t"] = 1
    if "duration" not in bound and "duration" in given:  # a number of its own: as far along as in the case
        changed["span"] = given["duration"]
        changed["t"] = round(case["t"] * given["duration"] / case["span"])
        changed["total"] = given["duration"] * case["total"] / case["span"]
    if not {"duration", "fraction"} & bound and "total" in bound:
        changed["span"] = case["total"]
    return case.but(**changed) if changed else case


def cases() -> list[Case]:
    named = [
        (0, "the first step"), (1, "a quarter of the way"), (2, "half of the way"), (4, "the last step of the way"),
        (3, "three quarters of the way"), (5, "one step after the end"), (6, "half as long again"), (8,
        "the end of the training"),
    ]  # fmt: skip
    usual = [_case(name, t, 1.0, 0.1, 4, 8) for t, name in named]
    return [*usual, _case("a start of 0.9", 3, 0.9, 0.05, 10, 40), _case("its end", 20, 0.9, 0.05, 10, 40)]


def _case(name: str, t: int, start: float, end: float, duration: int, total: int) -> Case:
    given = {"t": t, "first": start, "last": end, "span": duration, "total": total, "factor": 0.75, "rate": 0.1875}
    return Case(name, given)


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    duration = draw(st.integers(1, 6))
    total = duration * draw(st.integers(2, 4))
    t = draw(st.integers(0, total))
    start, end = draw(st.sampled_from([(1.0, 0.1), (0.9, 0.05), (1.0, 0.5), (0.5, 0.25)]))
    return _case("a step drawn at random", t, start, end, duration, total)


def _adapt(target: Any) -> Any:
    return adapt(target, EPSILON_SCHEDULE.quantities)


def _examine(target: Any, given: Mapping[str, str]) -> Verification:
    return examine(EPSILON_SCHEDULE, target, given)


def rebuild(given: Mapping[str, Any]) -> Case:
    total = float(given.get("total", 1.0))
    span = given.get("duration", total * given.get("fraction", 1.0))
    t = given["t"] if "t" in given else total * (1.0 - given["progress"])
    case = _case("as called", t, given.get("start", 1.0), given.get("end", 0.0), span, total)  # type: ignore[arg-type]
    return case.but(**{name: given[name] for name in ("factor", "rate") if name in given})


_STEPS = "decay eps_decay epsilon_decay eps_decay_steps epsilon_decay_steps"

EPSILON_SCHEDULE = Oracle(
    name="epsilon-schedule",
    aliases="epsilon eps-schedule exploration-schedule linear-schedule epsilon-decay epsilon-greedy-schedule",
    code="EXP100",
    summary="The schedule of ε: from its start to its end within a number of steps, and at the end from then on.",
    formula="ε(t) = start + (end − start) · min(t / duration, 1)",
    example="def epsilon(t, start, end, duration)",
    references="Mnih and others, *Human-level control through deep reinforcement learning*.",
    quantities=(
        Quantity("t", "t step steps_done timestep time_step global_step current_step total_steps_done frame frame_idx "
                      "frames n i "
                 "iteration episode episode_num ep cur_step num_steps_done step_count counter steps current_timestep "
                 "epoch train_step "
                 "env_step idx x num_timesteps n_calls time step_num frames_done steps_taken iter ep_num it itr "
                 "k ts tick j "
                 "game games trial iteration_number current_episode", "",
                 "int", without=("clock",), meaning="the step"),
        Quantity("progress", "progress_remaining remaining progress", "", "int",
                 of=lambda case: 1 - case["t"] / case["total"], meaning="the share that is left"),
        Quantity("progress done", "progress fraction_done frac progress_done percent", "", "int", reserve=True,
                 of=lambda case: case["t"] / case["total"], meaning="the share that is done"),
        Quantity("start", "start start_e eps_start epsilon_start initial_epsilon initial_eps eps_begin eps_max "
                          "epsilon_max max_eps "
                 "max_epsilon initial_p exploration_initial_eps start_eps start_epsilon initial_value init_eps begin "
                 "initial eps_init "
                 "epsilon_init eps_0 eps0 epsilon_initial value_from epsilon eps start_value epsilon_begin "
                 "begin_epsilon init hi "
                 "epsilon_high eps_high exploration_start init_epsilon e_start eps_initial first e0 e_0", "",
                 of=lambda case: case["first"], meaning="ε at the first step"),
        Quantity("end", "end end_e eps_end epsilon_end final_epsilon final_eps eps_final eps_min epsilon_min min_eps "
                        "min_epsilon final_p "
                 "exploration_final_eps end_eps end_epsilon final_value final epsilon_final eps_last min_value "
                 "value_to finish min "
                 "minimum floor end_value lo epsilon_low eps_low exploration_end stop e_end target last "
                 "epsilon_floor "
                 "epsilon eps e1 e_1", "",
                 of=lambda case: case["last"], meaning="ε at the end"),
        Quantity("duration", f"duration explore t exploration n N decay_steps schedule_timesteps "
                 "exploration_steps anneal_steps "
                 "annealing_steps "
                             f"decay_duration "
                 "eps_duration epsilon_duration n_decay decay_period exploration_timesteps eps_steps epsilon_steps "
                 "eps_last_frame "
                 "final_exploration_frame final_step last_step period annealing_duration epsilon_timesteps eps_frames "
                 "length max_steps n_steps num_steps "
                 "nsteps decay_episodes end_step horizon last_frame decay_frames epsilon_frames num_decay_steps "
                 "decay_time tau "
                 "max_timesteps anneal_duration exploration_duration steps_to_decay decay_length steps "
                 "exploration_frames "
                 f"annealing_timesteps num_steps_to_decay final_exploration_step {_STEPS} decay_const decay_constant "
                 f"eps_tau", "",
                 "int", of=lambda case: case["span"], meaning="the steps until the end of the schedule"),
        Quantity("factor", f"factor decay_factor decay_rate gamma epsilon_decay_rate eps_decay_rate multiplier "
                           f"epsilon_multiplier decay_coef rate "
                 f"epsilon_decay_factor decay_coefficient {_STEPS} anneal_rate epsilon_discount", "",
                 meaning="ε is multiplied by it at each step"),
        Quantity("rate", f"rate decay_rate eps_decay_rate epsilon_decay_rate decrement eps_decrement "
                         f"epsilon_decrement eps_dec eps_step delta "
                 f"epsilon_delta anneal_rate lambda lambd lam lmbda epsilon_step decay_lambda eps_delta slope "
                 f"decay_constant {_STEPS}", "",
                 meaning="how much ε falls at each step"),
        Quantity("total", "total total_steps total_timesteps max_timesteps num_timesteps_total n_total max_steps "
                          "num_steps n_steps "
                 "training_steps max_frames num_frames episodes n_episodes num_episodes max_episodes total_frames "
                 "num_training_steps "
                 "max_step total_num_steps n_timesteps total_episodes learning_steps total_training_steps "
                 "training_timesteps", "", "int",
                 meaning="the steps of the training"),
        Quantity("fraction", "fraction exploration_fraction end_fraction frac exploration_frac decay_fraction "
                             "anneal_fraction exploration_percentage "
                 "exploration_ratio ratio explore_fraction eps_fraction epsilon_fraction explore_frac share", "", "int",
                 of=lambda case: case["span"] / case["total"],
                 meaning="the share of the training until the end of the schedule"),
        Quantity("warm-up", "warmup_steps warmup warm_up learning_starts start_step initial_steps burn_in random_steps "
                 "start_timestep delay observe", "", "int", of=lambda case: 0, with_=("duration",),
                 meaning="the steps before the schedule begins, 0"),
        Quantity("clock", CLOCK, None, "int", of=lambda case: (case["t"], 1 - case["t"] / case["total"]),
                 meaning="the step"),
    ),
    outputs=(Output("epsilon", "epsilon_returned"),),
    required=("t|progress|progress done|clock|start",),
    columns=("t", "first", "last", "span", "total"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    told=told,
    adapt=_adapt,
    rebuild=rebuild,
    examine=_examine,
    styles=(
        Style("linear"),
        Style("exponential", {"kind": "exponential"}),
        Style("multiplied at each step", {"kind": "multiplied"}),
        Style("less by a number at each step", {"kind": "by-rate"}),
        Style("linear towards 0, stopped at the end", {"kind": "towards-zero"}),
        Style("linear towards 0, stopped at the end, from another start", {"kind": "towards-zero, scaled"}),
        Style("exponential by a rate", {"kind": "exponential by rate"}),
        Style("exponential towards 0, stopped at the end", {"kind": "exponential, stopped"}),
        Style("exponential by a rate towards 0, stopped at the end", {"kind": "exponential by rate, stopped"}),
        Style("multiplied at each step, towards the end", {"kind": "multiplied, towards the end"}),
        Style("multiplied at each step while above the end", {"kind": "multiplied, until below"}),
        Style("less by a number at each step while above the end", {"kind": "by-rate, until below"}),
        Style("geometric", {"kind": "geometric"}),
        Style("cosine", {"kind": "cosine"}),
        Style("linear, steps counted from 1", {"late": 1}),
        Style("linear towards 0, steps counted from 1", {"kind": "towards-zero", "late": 1}),
        Style("exponential, steps counted from 1", {"kind": "exponential", "late": 1}),
    ),
    mistakes=(
        Mistake(
            "EXP101", "epsilon-schedule-not-stopped", "ε falls on below its end, even below 0.",
            knobs={"clamp": "nothing"},
            wrong="return start + (end - start) * t / duration",
            right="return max(start + (end - start) * t / duration, end)",
            harm="After the schedule's end there is no exploration, and a negative ε hides it.",
            fix="stop at the end: max(…, end)",
        ),
        Mistake(
            "EXP102", "epsilon-schedule-stops-at-zero", "ε is stopped at 0, not at its end.",
            knobs={"clamp": "zero"},
            wrong="return max(start + (end - start) * t / duration, 0)",
            right="return max(start + (end - start) * t / duration, end)",
            harm="After a while there is no exploration at all: data no longer hold what the agent would not do.",
            fix="stop at the end: max(…, end)",
        ),
        Mistake(
            "EXP103", "epsilon-schedule-swapped", "Start and end are swapped: ε rises.",
            knobs=({"swapped": True}, {"swapped": True, "clamp": "nothing"}),
            wrong="return end + (start - end) * min(t / duration, 1)",
            right="return start + (end - start) * min(t / duration, 1)",
            harm="The agent is greedy while it knows nothing, and acts at random when it has learned.",
            fix="swap start and end",
        ),
        Mistake(
            "EXP104", "epsilon-schedule-grows", "ε grows with the steps: the sign of the slope is wrong.",
            knobs=({"sign": -1.0}, {"sign": -1.0, "clamp": "nothing"}),
            wrong="return max(end, start + (start - end) * t / duration)",
            right="return max(end, start - (start - end) * t / duration)",
            harm="The agent acts at random for ever: the return never rises.",
            fix="turn the sign round",
        ),
        Mistake(
            "EXP105", "epsilon-schedule-at-its-end-at-once",
            "ε is at its end from the first step: min where max belongs.",
            knobs={"clamp": "other side"},
            wrong="return min(end, start + (end - start) * t / duration)",
            right="return max(end, start + (end - start) * t / duration)",
            harm="There is hardly any exploration from the start.",
            fix="use max",
        ),
        Mistake(
            "EXP106", "epsilon-schedule-falls-at-once", "ε falls to its end in the first steps: t is not divided.",
            knobs=({"fall": "at-once"}, {"fall": "at-once-and-a-bit"}, {"fall": "product"},
                   {"fall": "at-once", "kind": "towards-zero"},
                   {"fall": "at-once-and-a-bit", "kind": "towards-zero"}, {"fall": "at-once",
                   "kind": "towards-zero, scaled"}),
            wrong="return max(end, start - t + 1 / duration)",
            right="return max(end, start - (t + 1) / duration)",
            harm="Exploration ends within a few steps.",
            fix="divide t by the duration: mind the parentheses",
            seen_in="Lightning-AI/pytorch-lightning issue 9620.",
        ),
        Mistake(
            "EXP107", "epsilon-schedule-fraction-ignored", "ε reaches its end only at the end of the whole training.",
            knobs={"span": "total"},
            wrong="return start + (end - start) * min(t / total, 1)",
            right="return start + (end - start) * min(t / (fraction * total), 1)",
            harm="The agent explores far longer than it was told to.",
            fix="divide by fraction · total",
            seen_in="tensorlayer/RLzoo issue 26.",
        ),
        Mistake(
            "EXP108", "epsilon-schedule-whole-division", "t is divided to a whole number: ε falls in one jump.",
            knobs={"whole": True},
            wrong="return max(end, start - (start - end) * (t // duration))",
            right="return max(end, start - (start - end) * (t / duration))",
            harm="The agent acts at random until the last step of the schedule, and is then greedy at once.",
            fix="use /, not //",
        ),
        Mistake(
            "EXP109", "epsilon-schedule-starts-too-high", "The end is added to the whole start: ε begins at start + "
                                                          "end.",
            knobs={"reach": "start"},
            wrong="return end + start * math.exp(-t / decay)",
            right="return end + (start - end) * math.exp(-t / decay)",
            harm="ε begins above its start, even above 1.",
            fix="multiply start − end",
        ),
        Mistake(
            "EXP110", "epsilon-schedule-starts-over", "ε jumps back to its start once the schedule is over.",
            knobs={"over": True},
            wrong="return start + (end - start) * (t % duration) / duration",
            right="return start + (end - start) * min(t / duration, 1)",
            harm="The agent acts at random again and again.",
            fix="use min(t / duration, 1)",
            fine="Where restarts are meant.",
        ),
        Mistake(
            "EXP111", "epsilon-schedule-never-changes", "ε is the same at all steps.",
            knobs={"frozen": True},
            wrong="return start",
            right="return start + (end - start) * min(t / duration, 1)",
            harm="The agent explores as at the start for ever.",
            fix="use t",
        ),
        Mistake(
            "EXP112", "epsilon-schedule-end-not-added", "The end is not added: ε begins too low and falls to 0.",
            knobs={"added": False},
            wrong="return (start - end) * math.exp(-t / decay)",
            right="return end + (start - end) * math.exp(-t / decay)",
            harm="After a while there is no exploration at all.",
            fix="add the end",
        ),
    ),
)  # fmt: skip
