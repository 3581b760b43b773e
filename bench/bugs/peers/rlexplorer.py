"""RLExplorer (Bouchoucha et al., arXiv 2410.04322; RLDebugger, last changed in April 2023): its published checks.

    python rlexplorer.py CASE.json REPORT.json

The tool itself asks for Python below 3.10, the old gym and a call at every place of the program, so this is a
transcription: its checks and default thresholds, in code of our own, fed by recorder.py from the program as it is. They
are done as meant, without the defects that keep some from ever firing. The phases are the first and the last 20 % of
the environment steps that were learned from. max_reward is the reward_threshold of Gymnasium's registry; where there is
none, the checks that need it do not apply.

Left out, since they need what only an edited program can hand over: the Q-target (its parts), the period at which a
target network is to change (that it changes at all, and is not always equal, is checked), the check on MC dropout
(layers put into the network). And those that are off by default (overfitting one batch), or cannot fail under autograd
(numerical gradients).

Where the published facts leave a choice, the quieter reading is taken, and said at the check.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from recorder import Case, Finding, Log, NotApplicable, Recorder, Stream, answer, episodes, load_target, run_program

_PHASE = 0.2
_ABSOLUTE = 10.0  # observations and rewards beyond are "not normalised"
_WINDOW = 5  # checks in a row, for losses and weights
_LOSSES = 10  # backward passes that make one point of a loss curve: ours, none is published


def judge(case: Case) -> list[Finding]:
    recorder = Recorder()
    run_program(case, recorder)
    log = recorder.log
    if not log.updates and not log.streams:
        raise NotApplicable("neither an environment step nor an optimizer step was seen")
    findings = [each for check in CHECKS for each in check(log)]
    return sorted([*findings, *_environment(case, log)], key=_rank)


def _rank(finding: Finding) -> tuple[int, int]:
    """Numbers that are none come first, as they came; then the checks on RL; then those on any network."""
    order = ("nan", "agent", "exploration", "environment", "state", "action", "reward", "step")
    code = finding.code.removeprefix("rlexplorer-")
    if "-nan" in code:
        return 0, finding.env_step or 0
    return next((place for place, each in enumerate(order) if code.startswith(each)), len(order)), 0


def _say(code: str, component: str, message: str, step: int | None, severity: str = "warning") -> Finding:
    return Finding(f"rlexplorer-{code}", component, severity, message, env_step=step)


# Agent: the target network. "The target network was not updated", "main and target are equal": target-network.


def _agent(log: Log) -> Iterator[Finding]:
    for name, seen in log.targets.items():
        if len(seen) < 7:  # three in a row each 100 updates
            continue
        network = name.split()[0]
        if not any(changed for _, _, changed, _ in seen):
            yield _say("agent-target-not-updated", "target-network", f"{network} never changes", seen[-1][1])
        elif all(equal for _, _, _, equal in seen):
            text = f"{network} equals the network that is trained, at every update"
            yield _say("agent-target-equal", "target-network", text, seen[-1][1])
        if log.acted.get(name, 0) > 0.5 * sum(log.acted.values()):
            text = f"actions are chosen with {network}, the target network"
            yield _say("agent-wrong-network", "target-network", text, None)
    for step, change in log.kls:
        if change > 0.1 and step <= log.trained_until:
            # its advice is a smaller learning rate
            text = f"KL {change:.3g} of the policy to itself 100 steps earlier, on 32 observations; at most 0.1"
            yield _say("agent-kl-high", "optimizer", text, step)
            return


# ExplorationParameter: its messages are about epsilon, hence exploration.


def _exploration(log: Log) -> Iterator[Finding]:
    seen = [(step, value) for step, value in log.epsilons if math.isfinite(value) and step <= log.trained_until]
    values = [value for _, value in seen]
    # A constant below one half is more likely a clipping range or a small number that is called the same.
    if len(values) < 3 or (values[0] < 0.5 and len(set(values)) == 1):
        return
    if values[0] != 1.0:
        yield _say("exploration-start", "exploration", f"epsilon starts at {values[0]:g}, expected 1", seen[0][0])
    if _line(values)[0] >= 0.0:
        text = f"epsilon goes from {values[0]:g} to {values[-1]:g}"
        yield _say("exploration-not-decreasing", "exploration", text, None)
    bends = [abs(each) for each in _derivative(_derivative(values))]
    if max(bends) > 0.22:
        text = f"epsilon changes too quickly: second derivative {max(bends):.2g}, at most 0.22"
        yield _say("exploration-too-quick", "exploration", text, seen[bends.index(max(bends))][0])


# Environment: one episode of random actions. All its messages are about the environment.


def _environment(case: Case, log: Log) -> list[Finding]:
    about = log.training()[0].about if log.training() else {}
    found = []
    odd = [each for each in about.get("spaces", ()) if each not in ("Box", "Discrete")]
    if odd:
        found.append(_say("environment-spaces", "environment", f"neither Box nor Discrete: {', '.join(odd)}", 0))
    try:
        played = _random_episode(case, about)
    except Exception:  # it cannot be made apart from its program
        return found
    if played is None:
        return found
    observations, rewards = played
    spread = statistics.fmean(_deviation(each) for each in zip(*observations, strict=True))
    if spread <= 0.001:
        found.append(_say("environment-observations-still", "environment", f"mean deviation {spread:.2g}", 0))
    outside = [each for each in rewards if abs(each) > _ABSOLUTE]
    if outside:
        text = f"reward {outside[0]:.4g} of a random action, expected within ±10"
        found.append(_say("environment-reward-unnormalised", "environment", text, 0))
    threshold = about.get("reward_threshold")
    if threshold is not None and sum(rewards) > threshold:
        text = f"random actions return {sum(rewards):.4g}, above the threshold {threshold:g}"
        found.append(_say("environment-solved-at-random", "environment", text, 0))
    return found


def _random_episode(case: Case, about: dict[str, Any]) -> tuple[list[list[float]], list[float]] | None:
    import gymnasium
    import numpy as np

    if case.env_check.get("target"):
        env = load_target(case.env_check["target"])()
    elif about.get("id"):
        env = gymnasium.make(about["id"])
    else:
        return None
    observations, rewards = [], []
    obs, _ = env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(5000):
        observations.append(np.ravel(np.asarray(obs, dtype=float)).tolist())
        obs, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        rewards.append(float(reward))
        if terminated or truncated:
            break
    return observations, rewards


# State. "Not normalised" is preprocessing; the same observation again and again is laid to the environment.


def _state(log: Log) -> Iterator[Finding]:
    most = _max_reward(log)
    for stream in log.training():
        late = _late(log, stream)
        for row in late:
            if stream.low[row] < -_ABSOLUTE or stream.high[row] > _ABSOLUTE:
                text = f"observation within [{stream.low[row]:.4g}, {stream.high[row]:.4g}], expected within ±10"
                yield _say("state-unnormalised", "preprocessing", text, stream.at[row])
                return
        played = [each for each in episodes(stream) if each[0] in late]
        for first, last in played:
            if last - first >= 10 and len(set(stream.obs[first : first + 10])) == 1:
                text = "the first 10 observations of an episode are the same"
                yield _say("state-still", "environment", text, stream.at[first])
                return
        if most is not None and _stuck(stream, played, stream.obs, 0.5 * most):
            yield _say("state-repeated", "environment", "episodes end in the same 10 observations", None)
            return


def _stuck(stream: Stream, played: Sequence[tuple[int, int]], column: Sequence[int], below: float) -> bool:
    """The last 10 of two episodes in a row are the same, while the mean return is below a bound."""
    for one, two in pairwise(played):
        ends = [column[last - 10 : last] for first, last in (one, two) if last - first >= 10]
        if len(ends) == 2 and ends[0] == ends[1]:
            return statistics.fmean(sum(stream.reward[first:last]) for first, last in played) < below
    return False


# Action: entropy of what the network says of the actions, and the actions themselves. Its messages are about how much
# the agent explores, hence exploration. One point is the mean of 50 steps.


def _action(log: Log) -> Iterator[Finding]:
    points = [(step, value) for step, value in log.action_entropies if step <= log.trained_until]
    values = [value for _, value in points]
    if len(values) >= 3 and statistics.fmean(values[:3]) < 0.3:
        text = f"entropy {statistics.fmean(values[:3]):.3g} at the start, expected 0.3 or more"
        yield _say("action-entropy-low-at-start", "exploration", text, points[2][0])
    early = [value for step, value in points if step <= _PHASE * log.trained_until]
    if len(early) >= 10:
        slope = _line(early)[0]
        if slope > 0.1:
            yield _say("action-entropy-increasing", "exploration", f"slope {slope:.3g} each 50 steps", None)
        elif abs(slope) < 1e-3:
            text = f"entropy does not change in the first 20 %: slope {slope:.2g}"
            yield _say("action-entropy-stagnating", "exploration", text, None)
    for kind, bad in (("strong-decrease", _drops), ("fluctuating", _fluctuates)):
        for end in range(10, len(values) + 1):
            if bad(values[end - 10 : end]):
                yield _say(f"action-entropy-{kind}", "exploration", "over 10 points", points[end - 1][0])
                break
    yield from _actions(log)


def _actions(log: Log) -> Iterator[Finding]:
    most = _max_reward(log)
    streams = [each for each in log.training() if each.about["n_actions"]]
    taken = Counter(each.action[row] for each in streams for row in _late(log, each))
    if sum(taken.values()) >= 100:
        action, count = taken.most_common(1)[0]
        if count > 0.8 * sum(taken.values()):
            text = f"action {action} in {count / sum(taken.values()):.0%} of the last 20 % of steps"
            yield _say("action-stagnating", "exploration", text, None)
    for stream in streams:
        late = _late(log, stream)
        played = [each for each in episodes(stream) if each[0] in late]
        if most is not None and _stuck(stream, played, stream.action, 0.1 * most):
            yield _say("action-repeated", "exploration", "episodes end in the same 10 actions", None)
            return


def _drops(values: Sequence[float]) -> bool:
    return sum(each < -0.1 for each in _derivative(_derivative(values))) >= 0.2 * len(values)


def _fluctuates(values: Sequence[float]) -> bool:
    return _line(values)[1] > 0.1


# Reward: that it stagnates or does not settle names no part of the program; that it does not vary early is laid to the
# reward of the environment. Deviations are of 3 episodes each.


def _reward(log: Log) -> Iterator[Finding]:
    most = _max_reward(log)
    played = sorted(
        (stream.at[last - 1], sum(stream.reward[first:last]))
        for stream in log.training()
        for first, last in episodes(stream)
    )
    early = [value for step, value in played if step <= _PHASE * log.trained_until]
    late = [value for step, value in played if step > (1.0 - _PHASE) * log.trained_until]
    if len(early) >= 15:
        rmse = _line([_deviation(each) for each in _windows(early)])[1]
        if rmse < 0.1:
            text = f"returns hardly vary in the first 20 %: {rmse:.2g}, expected 0.1 or more"
            yield _say("reward-low-variability", "environment", text, None)
    if most and len(late) >= 15:
        slope = _line([_deviation(each) / abs(most) for each in _windows(late)])[0]
        if abs(slope) > 0.25:
            yield _say("reward-not-stabilising", "", f"slope of its deviation {slope:.2g}", None)
        elif statistics.fmean(late) < 0.99 * most:
            text = f"mean return {statistics.fmean(late):.4g} in the last 20 %, expected {most:g}"
            yield _say("reward-stagnating", "", text, None)


def _windows(values: Sequence[float], size: int = 3) -> list[Sequence[float]]:
    return [values[end - size : end] for end in range(size, len(values) + 1)]


# Step: "the maximum number of steps is too low": a time limit, hence environment.


def _step(log: Log) -> Iterator[Finding]:
    most = _max_reward(log)
    for stream in log.training():
        limit, played = stream.about.get("max_steps"), episodes(stream)[-10:]
        if most is None or not limit or len(played) < 10:
            continue
        length = statistics.fmean(last - first for first, last in played)
        mean = statistics.fmean(sum(stream.reward[first:last]) for first, last in played)
        if length >= limit and mean < 0.1 * most:
            text = f"the last 10 episodes run into the limit of {limit} steps and return {mean:.4g}"
            yield _say("step-limit-low", "environment", text, None)
            return


# Loss: its root causes are the learning rate and the optimizer. A point of the curve is the mean of 10 backward passes
# of one line; a check fires when five points in a row ask for it. Smoothness is read as the correlation of each point
# with the next.


def _loss(log: Log) -> Iterator[Finding]:
    said: set[str] = set()
    for series in log.losses.values():
        bad = next((step for _, step, value in series if not math.isfinite(value)), None)
        if bad is not None:
            if "nan" not in said:
                yield _say("loss-nan", "optimizer", "the loss is not a finite number", bad, "error")
            said.add("nan")
            continue
        groups = [series[start : start + _LOSSES] for start in range(0, len(series) - _LOSSES + 1, _LOSSES)]
        points = [statistics.fmean(value for _, _, value in each) for each in groups]
        for end in range(_WINDOW + 1, len(points) + 1):
            for kind, bad_now in _LOSS_CHECKS.items():
                if kind not in said and bad_now(points[:end]):
                    said.add(kind)
                    yield _say(f"loss-{kind}", "optimizer", f"over {_WINDOW} points", groups[end - 1][-1][1])


def _does_not_decrease(points: Sequence[float]) -> bool:
    pairs = pairwise(points[-_WINDOW - 1 :])
    return all((before - after) / max(abs(before), 1e-12) < 0.05 for before, after in pairs)


def _diverges(points: Sequence[float]) -> bool:
    sizes = [abs(each) for each in points]
    return all(each >= 2.0 * max(min(sizes), 1e-12) for each in sizes[-_WINDOW:])


def _is_rough(points: Sequence[float]) -> bool:
    if len(points) < 2 * _WINDOW or len(set(points)) < 3:
        return False
    try:
        return statistics.correlation(points[:-1], points[1:]) < 0.5
    except statistics.StatisticsError:
        return False


_LOSS_CHECKS: dict[str, Callable[[Sequence[float]], bool]] = {
    "stagnating": _does_not_decrease,
    "diverging": _diverges,
    "fluctuating": _is_rough,
}


# Weight and Bias: too large is the optimizer's, all else the network's. Looked at every 10 updates.


def _weight(log: Log) -> Iterator[Finding]:
    said: set[str] = set()
    for name, seen in log.weights.items():
        kind = "weight" if len(log.initial.get(name, ((), 0.0))[0]) >= 2 else "bias"
        sizes = [each[2] for each in seen]
        for end, (_, step, size, dead, negative) in enumerate(seen, start=1):
            recent = sizes[max(0, end - _WINDOW - 1) : end]
            grown = len(recent) > _WINDOW and all(b >= 2.0 * max(a, 1e-12) for a, b in pairwise(recent))
            asked = {
                f"{kind}-nan": (not math.isfinite(size), "optimizer", "not a finite number"),
                f"{kind}-diverging": (size > 1e8 or grown, "optimizer", f"mean size {size:.3g}"),
                "weight-dead": (kind == "weight" and dead > 0.95, "network", f"{dead:.0%} are zero"),
                "weight-negative": (kind == "weight" and negative > 0.95, "network", f"{negative:.0%} are negative"),
            }
            for code, (bad, component, text) in asked.items():
                if bad and code not in said:
                    said.add(code)
                    yield _say(code, component, f"{name}: {text}", step, "error" if "nan" in code else "warning")
    for name, (shape, variance) in log.initial.items():
        if len(shape) in (2, 4) and not _initialised(shape, variance):  # of linear layers and convolutions
            text = f"{name}: variance {variance:.3g} at the start is neither He's nor Glorot's nor LeCun's"
            yield _say("weight-initialisation", "network", text, 0)
            return


def _initialised(shape: tuple[int, ...], variance: float) -> bool:
    """F-test at 10 % of the variance. Quieter reading: any of the three will do, whatever the activation.

    The quantiles are those of a normal for log F, good to a few per cent at these sizes.
    """
    count, around = math.prod(shape), math.prod(shape[2:])
    into, out = shape[1] * around, shape[0] * around
    if count < 3 or variance <= 0.0:
        return count < 3
    bound = 1.645 * math.sqrt(2.0 / (count - 1))
    return any(abs(math.log(variance / each)) <= bound for each in (2.0 / into, 2.0 / (into + out), 1.0 / into))


# Activation: the network's. Of layers that are modules, as there; batches of 16 and more.


def _activation(log: Log) -> Iterator[Finding]:
    said: set[str] = set()
    for name, _, step, dead, saturated, deviation in log.activations:
        asked = {
            "activation-nan": (not math.isfinite(deviation), "not a finite number"),
            "activation-dead": (dead > 0.5, f"{dead:.0%} of the neurons are dead"),
            "activation-saturated": (saturated > 0.5, f"{saturated:.0%} of the neurons are saturated"),
            "activation-unstable": (not 0.5 <= deviation <= 2.0, f"deviation {deviation:.3g}, expected 0.5 to 2"),
        }
        for code, (bad, text) in asked.items():
            if bad and code not in said:
                said.add(code)
                yield _say(code, "network", f"{name}: {text}", step, "error" if "nan" in code else "warning")


CHECKS: tuple[Callable[[Log], Iterator[Finding]], ...] = (
    _agent,
    _exploration,
    _state,
    _action,
    _reward,
    _step,
    _activation,
    _weight,
    _loss,
)


# Numbers


def _max_reward(log: Log) -> float | None:
    found = next((each.about.get("reward_threshold") for each in log.training()), None)
    return None if found is None else float(found)


def _late(log: Log, stream: Stream) -> range:
    """Rows of the last 20 %."""
    after = (1.0 - _PHASE) * (log.trained_until or log.env_steps)
    return range(sum(each <= after for each in stream.at), len(stream.at))


def _line(values: Sequence[float]) -> tuple[float, float]:
    """Slope of the straight line through them, and the root mean square distance from it."""
    if len(values) < 2:
        return 0.0, 0.0
    fit = statistics.linear_regression(range(len(values)), values)
    distances = [value - fit.intercept - fit.slope * place for place, value in enumerate(values)]
    return fit.slope, math.sqrt(statistics.fmean(each * each for each in distances))


def _derivative(values: Sequence[float]) -> list[float]:
    """Central differences, one-sided at the ends."""
    ends = [(max(i - 1, 0), min(i + 1, len(values) - 1)) for i in range(len(values))]
    return [(values[after] - values[before]) / (after - before) for before, after in ends]


def _deviation(values: Sequence[float]) -> float:
    return statistics.pstdev(values) if all(map(math.isfinite, values)) else math.nan


if __name__ == "__main__":
    answer(judge)
