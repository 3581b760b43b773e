import sys

import numpy as np
import torch

from agent import Agent
from config import CONFIG
from memory import Memory, to_tensor
from world import CoinField


def look(picture):
    return to_tensor(picture[None])


def score(agent, episodes, seed):
    world = CoinField()
    total = 0.0
    for i in range(episodes):
        picture, _ = world.reset(seed=seed + i)
        over = cut = False
        while not (over or cut):
            picture, reward, over, cut, _ = world.step(agent.act(look(picture), greedy=True))
            total += reward
    return total / episodes


def main(cfg):
    torch.set_num_threads(1)
    torch.manual_seed(cfg["seed"])
    rng = np.random.default_rng(cfg["seed"])
    world = CoinField()
    n_actions = int(world.action_space.n)
    agent = Agent(world.observation_space.shape, n_actions, cfg)
    memory = Memory(cfg["memory"], world.observation_space.shape, rng)

    picture, _ = world.reset(seed=cfg["seed"])
    for step in range(1, cfg["steps"] + 1):
        if step <= cfg["random_steps"]:
            action = int(rng.integers(n_actions))
        else:
            action = agent.act(look(picture))
        following, reward, over, cut, _ = world.step(action)
        memory.remember(picture, action, reward, following, over)
        picture = world.reset()[0] if over or cut else following

        if step > cfg["random_steps"] and step % cfg["train_every"] == 0:
            agent.learn(memory.batch(cfg["batch_size"]))
        if step % cfg["report_every"] == 0 and agent.history:
            value_loss, policy_loss, entropy = np.mean(agent.history[-50:], axis=0)
            print(f"{step:5d} | value loss {value_loss:.4f} | policy loss {policy_loss:+.3f} | entropy {entropy:.3f} | alpha {agent.log_alpha.exp().item():.3f}")

    print("average reward per episode, greedy:", round(score(agent, cfg["eval_episodes"], seed=90000 + cfg["seed"]), 4))


if __name__ == "__main__":
    cfg = dict(CONFIG)
    if len(sys.argv) > 1:
        cfg["seed"] = int(sys.argv[1])
    main(cfg)
