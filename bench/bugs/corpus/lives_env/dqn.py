# Double DQN for the ball game, moves that make no sense are masked out
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn

from ballgame import makeGame

SEED = 1
STEPS = 4500
LEARN_FROM = 300
LEARN_EVERY = 2
BATCH = 64
GAMMA = 0.95
LR = 1e-3
TAU = 0.01
EPS_START, EPS_END, EPS_STEPS = 1.0, 0.05, 2500
SOLVED, WINDOW = 13.0, 12
GAMES = 30
HUGE = 1e9

torch.set_num_threads(1)
random.seed(SEED)
torch.manual_seed(SEED)

env = makeGame()
nIn, nAct = env.observation_space.shape[0], env.action_space.n


def makeNet():
    return nn.Sequential(nn.Linear(nIn, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, nAct))


qNet, lagNet = makeNet(), makeNet()
lagNet.load_state_dict(qNet.state_dict())
adam = torch.optim.Adam(qNet.parameters(), lr=LR)
replay = deque(maxlen=20000)


def epsilon(step):
    frac = min(step / EPS_STEPS, 1.0)
    return EPS_START + frac * (EPS_END - EPS_START)


def bestLegal(q, legal):
    """index of the largest Q value among the legal moves"""
    return (q - HUGE * (~legal).float()).argmax(-1)


@torch.no_grad()
def choose(s, legal, eps):
    if random.random() < eps:
        return random.choice(np.flatnonzero(legal).tolist())
    return bestLegal(qNet(torch.from_numpy(s)), torch.from_numpy(legal)).item()


def learn():
    rows = random.sample(replay, BATCH)
    s, a, r, s2, legal2, end = zip(*rows)
    s, s2 = torch.from_numpy(np.stack(s)), torch.from_numpy(np.stack(s2))
    a, r, end = torch.tensor(a), torch.tensor(r), torch.tensor(end)
    legal2 = torch.from_numpy(np.stack(legal2))
    with torch.no_grad():
        a2 = bestLegal(qNet(s2), legal2)
        q2 = lagNet(s2)[torch.arange(BATCH), a2]
        y = r + GAMMA * q2 * (1.0 - end)
    q = qNet(s)[torch.arange(BATCH), a]
    loss = 0.5 * ((y - q) ** 2).mean()
    adam.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(qNet.parameters(), 10.0)
    adam.step()
    with torch.no_grad():
        for slow, fast in zip(lagNet.parameters(), qNet.parameters()):
            slow.mul_(1.0 - TAU).add_(TAU * fast)
    return loss.item()


s, info = env.reset(seed=SEED)
scores, lossSum, lossN = deque(maxlen=WINDOW), 0.0, 0
for step in range(1, STEPS + 1):
    a = choose(s, info["legal"], epsilon(step))
    s2, r, term, trunc, info = env.step(a)
    replay.append((s, a, r, s2, info["legal"], float(term)))
    s = s2
    if "score" in info:
        scores.append(info["score"])
    if term or trunc:
        s, info = env.reset()
    if step > LEARN_FROM and step % LEARN_EVERY == 0:
        lossSum, lossN = lossSum + learn(), lossN + 1
    if step % 1000 == 0:
        print(f"{step:6d}  eps {epsilon(step):.2f}  score {np.mean(scores):6.2f}  loss {lossSum / max(lossN, 1):.4f}")
        lossSum, lossN = 0.0, 0
    if len(scores) == WINDOW and np.mean(scores) >= SOLVED:
        print(f"solved after {step} steps")
        break

testEnv, finals = makeGame(), []
for game in range(GAMES):
    s, info = testEnv.reset(seed=5000 + 100 * SEED + game)
    while True:
        s, r, term, trunc, info = testEnv.step(choose(s, info["legal"], 0.0))
        if "score" in info:
            finals.append(info["score"])
            break
        if term or trunc:
            s, info = testEnv.reset()
print(f"mean score of {len(finals)} games = {np.mean(finals):.2f}")
