"""Actors in threads, one learner, V-trace in between.

Every actor owns a copy of the network.  It waits for weights, plays T steps in its E environments, hands the unroll
over and waits again.  The learner serves the actors in turn, so an unroll is a few updates old when it is learnt from.
"""
import collections
import copy
import queue
import random
import threading

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from beam import BeamBall

SEED = 1
ACTORS = 3
E = 4
T = 20
UPDATES = 180
GAMMA = 0.97
RHO_BAR = 1.0
C_BAR = 1.0
ENTROPY_COST = 0.01
BASELINE_COST = 0.5
LR = 3e-3
MAX_GRAD_NORM = 1.0
REPLAY = 12

Unroll = collections.namedtuple("Unroll", "obs action reward terminated done next_obs logp")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(2, 32), nn.ELU(), nn.Linear(32, 32), nn.ELU(), nn.Linear(32, 3))
        self.baseline = nn.Sequential(nn.Linear(2, 32), nn.ELU(), nn.Linear(32, 32), nn.ELU(), nn.Linear(32, 1))

    def forward(self, obs):
        return F.log_softmax(self.pi(obs), dim=-1), self.baseline(obs)[..., 0]


class Actor(threading.Thread):
    def __init__(self, number, net):
        super().__init__(daemon=True)
        self.net = net
        self.rng = torch.Generator().manual_seed(1000 * SEED + number)
        self.envs = [BeamBall() for _ in range(E)]
        self.obs = [env.reset(seed=10_000 * SEED + 100 * number + i)[0] for i, env in enumerate(self.envs)]
        self.score = [0.0] * E
        self.inbox, self.outbox = queue.Queue(1), queue.Queue(1)

    def run(self):
        while True:
            weights = self.inbox.get()
            if weights is None:
                return
            self.net.load_state_dict(weights)
            self.outbox.put(self.unroll())

    @torch.no_grad()
    def unroll(self):
        steps, finished = [], []
        for _ in range(T):
            obs = torch.from_numpy(np.stack(self.obs))
            logp, _ = self.net(obs)
            action = torch.multinomial(logp.exp(), 1, generator=self.rng)
            taken = logp.gather(1, action)[:, 0]
            reward, terminated, done, next_obs = [], [], [], []
            for i, env in enumerate(self.envs):
                o, r, term, trunc, _ = env.step(action[i, 0].item())
                reward.append(r)
                terminated.append(term)
                done.append(term or trunc)
                next_obs.append(o)
                self.score[i] += r
                if term or trunc:
                    finished.append(self.score[i])
                    self.score[i] = 0.0
                    o, _ = env.reset()
                self.obs[i] = o
            steps.append(
                Unroll(
                    obs,
                    action[:, 0],
                    torch.tensor(reward, dtype=torch.float32),
                    torch.tensor(terminated, dtype=torch.float32),
                    torch.tensor(done, dtype=torch.float32),
                    torch.from_numpy(np.stack(next_obs)),
                    taken,
                )
            )
        return Unroll(*(torch.stack(column) for column in zip(*steps))), finished


@torch.no_grad()
def vtrace(log_rhos, rewards, terminated, done, values, next_values, gamma):
    """Espeholt et al. 2018, eq. 1, for [T, B] unrolls that may hold several episodes.

    next_values are those of the true successors, also where an episode ended there.
    Returns the targets vs and the advantages for the policy gradient.
    """
    rhos = log_rhos.exp()
    clipped_rhos = rhos.clamp(max=RHO_BAR)
    cs = rhos.clamp(max=C_BAR)
    go_on = 1.0 - done
    deltas = clipped_rhos * (rewards + gamma * (1.0 - terminated) * next_values - values)
    acc = torch.zeros_like(values[0])
    corrections = []
    for t in reversed(range(len(rewards))):
        acc = deltas[t] + gamma * go_on[t] * cs[t] * acc
        corrections.append(acc)
    vs = values + torch.stack(corrections[::-1])
    following = torch.cat([vs[1:], next_values[-1:]])
    following = torch.where(done.bool(), next_values, following)
    advantages = clipped_rhos * (rewards + gamma * (1.0 - terminated) * following - values)
    return vs, advantages


class Learner:
    def __init__(self):
        self.net = Net()
        self.opt = torch.optim.RMSprop(self.net.parameters(), lr=LR, alpha=0.99, eps=1e-3)
        self.lr = torch.optim.lr_scheduler.LinearLR(self.opt, 1.0, 0.2, total_iters=UPDATES)
        self.replay = collections.deque(maxlen=REPLAY)
        self.dice = random.Random(SEED)

    def weights(self):
        return {k: v.clone() for k, v in self.net.state_dict().items()}

    def learn(self, fresh):
        batch = fresh
        if self.replay:
            old = self.dice.choice(self.replay)
            batch = Unroll(*(torch.cat(pair, dim=1) for pair in zip(fresh, old)))
        self.replay.append(fresh)

        logp_all, values = self.net(batch.obs)
        with torch.no_grad():
            _, next_values = self.net(batch.next_obs)
        logp = logp_all.gather(-1, batch.action.unsqueeze(-1)).squeeze(-1)
        vs, advantages = vtrace(
            logp - batch.logp, batch.reward, batch.terminated, batch.done, values, next_values, GAMMA
        )
        pg_loss = -(advantages * logp).mean()
        baseline_loss = 0.5 * (vs - values).pow(2).mean()
        entropy = -(logp_all.exp() * logp_all).sum(-1).mean()
        loss = pg_loss + BASELINE_COST * baseline_loss - ENTROPY_COST * entropy

        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), MAX_GRAD_NORM)
        self.opt.step()
        self.lr.step()
        return pg_loss.item(), baseline_loss.item(), entropy.item()


def test(net, episodes=20):
    env = BeamBall()
    total = 0.0
    for k in range(episodes):
        obs, _ = env.reset(seed=777_000 + k)
        over = False
        while not over:
            with torch.no_grad():
                logp, _ = net(torch.from_numpy(obs))
            obs, r, term, trunc, _ = env.step(logp.argmax().item())
            total += r
            over = term or trunc
    return total / episodes


def main():
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    learner = Learner()
    actors = [Actor(n, copy.deepcopy(learner.net)) for n in range(ACTORS)]
    for actor in actors:
        actor.start()
        actor.inbox.put(learner.weights())

    recent = collections.deque(maxlen=40)
    for update in range(1, UPDATES + 1):
        actor = actors[update % ACTORS]
        unroll, finished = actor.outbox.get()
        actor.inbox.put(learner.weights())
        recent.extend(finished)
        pg, bl, ent = learner.learn(unroll)
        if update % 20 == 0:
            score = sum(recent) / max(len(recent), 1)
            print(f"{update:5d} updates: return {score:6.2f}, pg {pg:+.4f}, baseline {bl:.4f}, entropy {ent:.3f}")

    for actor in actors:
        actor.outbox.get()
        actor.inbox.put(None)
        actor.join()
    print(f"last {len(recent)} episodes {sum(recent) / max(len(recent), 1):.2f}, greedy test {test(learner.net):.2f}")


if __name__ == "__main__":
    main()
