"""What the value function predicts, what it is asked to predict, and how far apart the two are."""

from __future__ import annotations

import torch
from torch import Tensor

from rldebug.metric import metric
from rldebug.rollout import Rollout, Update


@metric(
    "value/mean", "value/std", "value/min", "value/max",
    unit="return", reads=Update, needs=("value",), healthy="close to the target's",
)  # fmt: skip
def value(update: Update) -> tuple[Tensor, ...]:
    """Distribution of the value predictions on the batch; should match the targets' (`target/mean` …)."""
    assert update.value is not None
    return moments(update.value)


@metric(
    "target/mean", "target/std", "target/min", "target/max",
    unit="return", reads=Update, needs=("target",), healthy="within ±10, ideally ±3; steady",
)  # fmt: skip
def target(update: Update) -> tuple[Tensor, ...]:
    """Distribution of the value targets."""
    assert update.target is not None
    return moments(update.target)


@metric(
    "value/residual_var",
    unit="share",
    reads=Update,
    needs=("value", "target"),
    healthy="starts near 1, falls fast, then slowly; never reaches 0",
)
def residual_variance(update: Update) -> Tensor:
    """Var(target − value) / Var(target): the share of the targets' variance that the critic does not explain."""
    assert update.value is not None and update.target is not None
    spread = update.target - update.target[:1]  # a constant becomes exactly 0, which its variance would not be
    return (update.target - update.value).float().var(correction=0) / spread.float().var(correction=0)


@metric("value/target_corr", unit="correlation", reads=Update, needs=("value", "target"), healthy="rises towards 1")
def target_correlation(update: Update) -> Tensor:
    """Correlation of prediction and target over the batch, whatever their scales."""
    assert update.value is not None and update.target is not None
    return correlation(update.value, update.target)


@metric(
    "value/terminal_corr",
    "value/terminal_count",
    unit="correlation",
    reads=Rollout,
    needs=("value", "reward", "terminated"),
    healthy="starts near 0, rises to nearly 1 where the reward comes at the end",
)
def terminal_correlation(rollout: Rollout) -> tuple[Tensor, Tensor]:
    """Correlation of V(s) in the last state of an episode with the reward of its last step, over terminations; and
    how many there were. NaN under three."""
    assert rollout.value is not None and rollout.reward is not None and rollout.terminated is not None
    return _masked_correlation(rollout.value, rollout.reward, rollout.terminated.bool())


@metric(
    "value/penultimate_corr",
    "value/penultimate_count",
    unit="correlation",
    reads=Rollout,
    needs=("value", "reward", "terminated"),
    healthy="close behind value/terminal_corr",
)
def penultimate_correlation(rollout: Rollout) -> tuple[Tensor, Tensor] | None:
    """Correlation of V(s) one step before the last state of an episode with its final reward. Low while the terminal
    one is high: returns are not carried backwards."""
    assert rollout.value is not None and rollout.reward is not None and rollout.terminated is not None
    if rollout.value.shape[0] < 2:
        return None
    ended = rollout.terminated.bool()
    before = ~ended[:-1] if rollout.truncated is None else ~(ended[:-1] | rollout.truncated[:-1].bool())
    return _masked_correlation(rollout.value[:-1], rollout.reward[1:], ended[1:] & before)


@metric(
    "value/step_corr",
    "value/step_count",
    unit="correlation",
    reads=Rollout,
    needs=("value", "reward", "terminated"),
    healthy="positive where rewards are dense: value drops as its reward is collected",
)
def step_correlation(rollout: Rollout) -> tuple[Tensor, Tensor] | None:
    """Per-step variant for dense rewards: correlation of V(s') − V(s) with −r over steps inside episodes."""
    assert rollout.value is not None and rollout.reward is not None and rollout.terminated is not None
    if rollout.value.shape[0] < 2:
        return None
    inside = ~rollout.terminated[:-1].bool()
    if rollout.truncated is not None:
        inside &= ~rollout.truncated[:-1].bool()
    return _masked_correlation(rollout.value[1:] - rollout.value[:-1], -rollout.reward[:-1], inside)


@metric(
    "value/terminal_slope",
    "value/penultimate_slope",
    "value/final_reward_std",
    unit="return per reward",
    reads=Rollout,
    needs=("value", "reward", "terminated"),
    healthy="where the reward comes at the end and can be foreseen: near 1, and near γ",
)
def final_slopes(rollout: Rollout) -> tuple[Tensor, Tensor, Tensor] | None:
    """Cov(V, r) / Var(r), over terminations, of the final reward r with V in the last state and in the one before it;
    and the spread of r. A correlation is as high for a thousandth of the right value; this is not. NaN under three."""
    assert rollout.value is not None and rollout.reward is not None and rollout.terminated is not None
    if rollout.value.shape[0] < 2:
        return None
    ended = rollout.terminated.bool()
    before = ~ended[:-1] if rollout.truncated is None else ~(ended[:-1] | rollout.truncated[:-1].bool())
    last, spread = _masked_slope(rollout.value, rollout.reward, ended)
    penultimate, _ = _masked_slope(rollout.value[:-1], rollout.reward[1:], ended[1:] & before)
    return last, penultimate, spread


@metric(
    "trace/value",
    unit="return",
    reads=Rollout,
    needs=("value", "reward"),
    healthy="rises towards rewards, drops as they are collected",
    kind="trace",
)
def value_trace(rollout: Rollout) -> Tensor:
    """V(s_t) of one environment over the newest steps; drawn with `trace/reward` and `trace/end`: rising curves that
    lead up to rewards, and drops as they are collected."""
    assert rollout.value is not None
    return rollout.value[-_TRACE:, 0].float()


@metric(
    "trace/reward",
    unit="reward",
    reads=Rollout,
    needs=("value", "reward"),
    healthy="as the environment's designer expects",
    kind="trace",
)
def reward_trace(rollout: Rollout) -> Tensor:
    """Rewards of the same steps as `trace/value`."""
    assert rollout.reward is not None
    return rollout.reward[-_TRACE:, 0].float()


@metric(
    "trace/end",
    unit="flag",
    reads=Rollout,
    needs=("value", "reward", "terminated"),
    healthy="an end now and then",
    kind="trace",
)
def end_trace(rollout: Rollout) -> Tensor:
    """Where the steps of `trace/value` ended an episode: 1 terminated, 2 truncated, 0 neither."""
    assert rollout.terminated is not None
    ended = rollout.terminated[-_TRACE:, 0].bool()
    flags = ended.float()
    if rollout.truncated is not None:
        flags = flags + 2.0 * (rollout.truncated[-_TRACE:, 0].bool() & ~ended).float()
    return flags


_TRACE = 256


def moments(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Mean, standard deviation, min, max. A NaN anywhere shows in all four."""
    x = x.float()
    std, mean = torch.std_mean(x, correction=0)
    low, high = x.aminmax()
    return mean, std, low, high


def correlation(x: Tensor, y: Tensor) -> Tensor:
    """Pearson's; NaN where either is constant: the first entry is taken off so that rounding leaves no spread there."""
    x, y = (x - x[:1]).float(), (y - y[:1]).float()
    x, y = x - x.mean(), y - y.mean()
    return torch.dot(x, y) / (torch.dot(x, x) * torch.dot(y, y)).sqrt()


def _masked_correlation(x: Tensor, y: Tensor, keep: Tensor) -> tuple[Tensor, Tensor]:
    """Over the kept entries, and their number, without ever asking the device how many there are."""
    count, x, y = _centred(keep, x, y)
    corr = (x * y).sum() / (x.square().sum() * y.square().sum()).sqrt()
    return torch.where(count >= 3, corr, torch.full_like(corr, float("nan"))), count


def _centred(keep: Tensor, *series: Tensor) -> tuple[Tensor, ...]:
    """The number of kept entries; and of each series, the kept entries minus their mean and 0 elsewhere."""
    weight = keep.double() if keep.device.type != "mps" else keep.float()
    count = weight.sum()
    centred = []
    for each in series:
        x = each.to(weight.dtype)
        # One of the entries is taken off first: the mean of a constant is not exactly that constant.
        x = torch.where(keep, x - torch.where(keep, x, -torch.inf).amax(), 0.0)
        centred.append((x - x.sum() / count) * weight)
    return (count, *centred)


def _masked_slope(x: Tensor, y: Tensor, keep: Tensor) -> tuple[Tensor, Tensor]:
    """Cov(x, y) / Var(y) over the kept entries, and the standard deviation of y there."""
    count, x, y = _centred(keep, x, y)
    squares = y.square().sum()
    nan = torch.full_like(squares, float("nan"))
    return torch.where(count >= 3, (x * y).sum() / squares, nan), torch.where(count >= 3, squares / count, nan).sqrt()
