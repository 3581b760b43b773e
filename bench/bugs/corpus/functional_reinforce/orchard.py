"""REINFORCE with a learned baseline, written as plain functions.

The orchard: apples fall one after the other, a picker runs along the row with a basket. An apple in the
basket is worth 1, a missed one ends the day, as does the last apple. Running costs a little.

State, parameters and trajectories are immutable tuples; whatever has randomness in it takes a generator.
"""
import math
from typing import Callable, NamedTuple

import torch
from torch import Tensor

SEED = 1

LANES = 7
HEIGHT = 5
APPLES = 4
RUN_COST = 0.01
ACTIONS = 3  # left, wait, right
FEATURES = 2 * LANES + HEIGHT + APPLES + 1

GAMMA = 0.95
DAYS = 32
CHUNKS = 2
UPDATES = 70
LR_POLICY = 0.01
LR_BASELINE = 0.01
ENTROPY_BONUS = 0.01


# ---------------------------------------------------------------- the orchard


class Orchard(NamedTuple):
    picker: Tensor  # (days,) lane of the picker
    lane: Tensor  # (days,) lane of the apple in the air
    height: Tensor  # (days,) steps until it is down
    count: Tensor  # (days,) apples caught so far
    upcoming: Tensor  # (days, APPLES) lanes of all apples of the day
    drift: Tensor  # (days, APPLES) how each of them drifts
    open: Tensor  # (days,) bool, the day is not over


def new_days(n: int, gen: torch.Generator) -> Orchard:
    upcoming = torch.randint(0, LANES, (n, APPLES), generator=gen)
    drift = torch.randint(-1, 2, (n, APPLES), generator=gen)
    return Orchard(
        picker=torch.randint(0, LANES, (n,), generator=gen),
        lane=upcoming[:, 0],
        height=torch.full((n,), HEIGHT),
        count=torch.zeros(n, dtype=torch.long),
        upcoming=upcoming,
        drift=drift,
        open=torch.ones(n, dtype=torch.bool),
    )


def current(table: Tensor, count: Tensor) -> Tensor:
    return table.gather(1, count.clamp(max=APPLES - 1).unsqueeze(1)).squeeze(1)


def observe(s: Orchard) -> Tensor:
    def onehot(index, size):
        return torch.nn.functional.one_hot(index, size)

    return torch.cat(
        [
            onehot(s.picker, LANES),
            onehot(s.lane, LANES),
            onehot(s.height - 1, HEIGHT),
            onehot(s.count.clamp(max=APPLES - 1), APPLES),
            current(s.drift, s.count).unsqueeze(1),
        ],
        dim=1,
    ).float()


def advance(s: Orchard, action: Tensor) -> tuple[Orchard, Tensor]:
    """One step of all days; days that are over stay as they are and pay nothing."""
    move = action - 1
    picker = (s.picker + move).clamp(0, LANES - 1)
    lane = (s.lane + current(s.drift, s.count)).clamp(0, LANES - 1)
    height = s.height - 1
    down = height == 0
    caught = down & ((picker - lane).abs() <= 1)
    count = s.count + caught.long()
    reward = (caught.float() - RUN_COST * move.abs()) * s.open
    over = (down & ~caught) | (count == APPLES)
    stepped = Orchard(
        picker=picker,
        lane=torch.where(down, current(s.upcoming, count), lane),
        height=torch.where(down, torch.full_like(height, HEIGHT), height),
        count=count,
        upcoming=s.upcoming,
        drift=s.drift,
        open=s.open & ~over,
    )
    keep = s.open
    frozen = [
        torch.where(keep if new.dim() == 1 else keep.unsqueeze(1), new, old) for new, old in zip(stepped[:-1], s[:-1])
    ]
    return Orchard(*frozen, open=stepped.open), reward


# ------------------------------------------------------------------- networks


def init_net(sizes: list[int], gen: torch.Generator, last_scale: float = 1.0) -> list[Tensor]:
    params = []
    for i, (fan_in, fan_out) in enumerate(zip(sizes[:-1], sizes[1:])):
        scale = last_scale if i == len(sizes) - 2 else 1.0
        weight = torch.randn(fan_in, fan_out, generator=gen) * scale / math.sqrt(fan_in)
        params += [weight.requires_grad_(), torch.zeros(fan_out, requires_grad=True)]
    return params


def apply_net(params: list[Tensor], x: Tensor) -> Tensor:
    for i in range(0, len(params) - 2, 2):
        x = torch.tanh(x @ params[i] + params[i + 1])
    return x @ params[-2] + params[-1]


def log_policy(params: list[Tensor], x: Tensor) -> Tensor:
    return apply_net(params, x).log_softmax(dim=-1)


def entropy_of(logp: Tensor) -> Tensor:
    return -(logp.exp() * logp).sum(dim=-1)


# ----------------------------------------------------------------- trajectories


class Trajectories(NamedTuple):
    """Time first: every field is (steps, days)."""

    logp: Tensor
    entropy: Tensor
    baseline: Tensor
    reward: Tensor
    mask: Tensor


def play(choose: Callable[[Tensor], Tensor], start: Orchard, visit: Callable = lambda *_: None) -> Orchard:
    """Plays all days to their end; visit sees (observation, action, reward, open) of every step."""
    state = start
    for _ in range(APPLES * HEIGHT):
        if not state.open.any():
            break
        x = observe(state)
        action = choose(x)
        after, reward = advance(state, action)
        visit(x, action, reward, state.open)
        state = after
    return state


def sample_trajectories(policy, baseline, n: int, gen: torch.Generator) -> Trajectories:
    logps, entropies, baselines, rewards, masks = [], [], [], [], []

    def choose(x):
        logp = log_policy(policy, x)
        action = torch.multinomial(logp.detach().exp(), 1, generator=gen)
        logps.append(logp.gather(1, action).squeeze(1))
        entropies.append(entropy_of(logp))
        return action.squeeze(1)

    def visit(x, action, reward, open_):
        baselines.append(apply_net(baseline, x).squeeze(1))
        rewards.append(reward)
        masks.append(open_.float())

    play(choose, new_days(n, gen), visit)
    return Trajectories(*map(torch.stack, (logps, entropies, baselines, rewards, masks)))


def rewards_to_go(reward: Tensor, gamma: float) -> Tensor:
    out, running = [], torch.zeros_like(reward[0])
    for r in reversed(reward.unbind(0)):
        running = r + gamma * running
        out.append(running)
    return torch.stack(out[::-1])


# --------------------------------------------------------------------- learning


def masked_mean(x: Tensor, mask: Tensor) -> Tensor:
    return (x * mask).sum() / mask.sum()


def losses(tr: Trajectories) -> tuple[Tensor, Tensor, Tensor]:
    target = rewards_to_go(tr.reward, GAMMA)
    advantage = target - tr.baseline.detach()
    policy_loss = -masked_mean(tr.logp * advantage, tr.mask)
    entropy = masked_mean(tr.entropy, tr.mask)
    baseline_loss = masked_mean((tr.baseline - target).pow(2), tr.mask)
    return policy_loss, baseline_loss, entropy


def make_learner(policy, baseline, gen: torch.Generator) -> Callable[[], dict]:
    policy_opt = torch.optim.Adam(policy, lr=LR_POLICY)
    baseline_opt = torch.optim.Adam(baseline, lr=LR_BASELINE)

    def learn() -> dict:
        """One update from CHUNKS batches of days, their gradients averaged."""
        policy_opt.zero_grad()
        baseline_opt.zero_grad()
        caught = bend = fit = 0.0
        for _ in range(CHUNKS):
            tr = sample_trajectories(policy, baseline, DAYS, gen)
            policy_loss, baseline_loss, entropy = losses(tr)
            ((policy_loss - ENTROPY_BONUS * entropy) / CHUNKS).backward()
            (baseline_loss / CHUNKS).backward()
            caught += tr.reward.sum().item() / DAYS / CHUNKS
            fit += baseline_loss.item() / CHUNKS
            bend += entropy.item() / CHUNKS
        policy_opt.step()
        baseline_opt.step()
        return {"reward": caught, "baseline_loss": fit, "entropy": bend}

    return learn


def harvest(policy, n: int, gen: torch.Generator) -> float:
    """Apples per day of the greedy picker."""
    with torch.no_grad():
        end = play(lambda x: log_policy(policy, x).argmax(dim=1), new_days(n, gen))
    return end.count.float().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    stream = lambda k: torch.Generator().manual_seed(1000 * SEED + k)  # noqa: E731
    policy = init_net([FEATURES, 48, ACTIONS], stream(0), last_scale=0.1)
    baseline = init_net([FEATURES, 48, 1], stream(1))
    learn = make_learner(policy, baseline, stream(2))
    for update in range(1, UPDATES + 1):
        info = learn()
        if update % 10 == 0:
            print(f"{update:4d}  " + "  ".join(f"{k} {v:.3f}" for k, v in info.items()))
    print(f"apples per day, greedy, 300 days: {harvest(policy, 300, stream(3)):.3f}")


if __name__ == "__main__":
    main()
