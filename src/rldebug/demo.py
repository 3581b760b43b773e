"""`rldebug demo`: a small PPO with one wrong sign, and its healthy twin, both watched.

Read `train` for how a loop of your own is watched: three calls, marked with `# ←`.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import Tensor, nn
from torch.distributions import Categorical

from rldebug.evidence.folder import RUNS
from rldebug.evidence.run import read_run
from rldebug.finding import Report
from rldebug.render.json import write_json
from rldebug.render.page import write_page
from rldebug.render.terminal import console, print_report
from rldebug.watch import watch

PLANTED = "advantage-sign-flipped"

BUTTONS = 3
LONGEST = 10  # presses in an episode
ENVS, STEPS, ITERATIONS = 8, 32, 60
EPOCHS, MINIBATCH = 4, 64
GAMMA, LAMBDA, CLIP = 0.9, 0.95, 0.2


class Lights(gym.Env[Any, Any]):
    """A probe: one light is on, and its button pays 1. A wrong button, or the tenth right one, ends the episode.

    The reward depends on the observation and on the action, and the value on how many presses are left: the smallest
    task that a policy, a critic and their advantages can only solve together.
    """

    observation_space = gym.spaces.Box(0.0, 1.0, (BUTTONS + 1,))
    action_space = gym.spaces.Discrete(BUTTONS)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.left = LONGEST
        return self._look(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        right = int(action) == self.light
        self.left -= 1
        return self._look(), float(right), not right or self.left == 0, False, {}

    def _look(self) -> Any:
        self.light = int(self.np_random.integers(BUTTONS))
        return np.array([*np.eye(BUTTONS)[self.light], self.left / LONGEST], dtype=np.float32)


def gae(reward: Tensor, value: Tensor, terminated: Tensor, last_value: Tensor) -> Tensor:
    """Generalised advantage estimation, time-major. Episodes here end by termination only: nothing to bootstrap."""
    advantage = torch.zeros_like(reward)
    next_value, next_advantage = last_value, torch.zeros_like(last_value)
    for t in reversed(range(len(reward))):
        goes_on = 1.0 - terminated[t].float()
        delta = reward[t] + GAMMA * goes_on * next_value - value[t]
        advantage[t] = next_advantage = delta + GAMMA * LAMBDA * goes_on * next_advantage
        next_value = value[t]
    return advantage


def train(*, planted: bool, run: str, folder: Path, tick: Callable[[], None], seed: int = 1) -> tuple[Report, Path]:
    torch.manual_seed(seed)
    env = SyncVectorEnv([Lights] * ENVS, autoreset_mode=AutoresetMode.SAME_STEP)
    head = nn.Linear(32, BUTTONS)
    nn.init.zeros_(head.weight)  # every button equally likely at first: the most entropy there is
    nn.init.zeros_(head.bias)
    policy = nn.Sequential(nn.Linear(BUTTONS + 1, 32), nn.Tanh(), head)
    critic = nn.Sequential(nn.Linear(BUTTONS + 1, 32), nn.Tanh(), nn.Linear(32, 1), nn.Flatten(0))
    optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=3e-3)

    with watch(  # ← the networks, the optimizer and the environment are watched from here on
        policy=policy, critic=critic, optimizer=optimizer, env=env, gamma=GAMMA, run=run, folder=folder, quiet=True
    ) as dbg:
        now = torch.tensor(env.reset(seed=seed)[0])
        for _ in range(ITERATIONS):
            steps = []
            for _ in range(STEPS):
                with torch.no_grad():
                    dist: Any = Categorical(logits=policy(now))
                    act = dist.sample()
                    seen = (now, act, dist.log_prob(act), critic(now))
                then, pay, over, _, _ = env.step(act.numpy())
                steps.append((*seen, torch.tensor(pay, dtype=torch.float32), torch.tensor(over)))
                now = torch.tensor(then)
            obs, action, logp, value, reward, terminated = (torch.stack(each) for each in zip(*steps, strict=True))
            with torch.no_grad():
                advantage = gae(reward, value, terminated, critic(now))
            target = advantage + value
            if planted:
                advantage = -advantage  # the planted bug: V(s) − return, where it should be return − V(s)
            dbg.rollout(  # ← what acting produced
                obs=obs, action=action, reward=reward, terminated=terminated, value=value, logp=logp
            )

            flat = [each.flatten(0, 1) for each in (obs, action, logp, advantage, target)]
            for _ in range(EPOCHS):
                for rows in torch.randperm(STEPS * ENVS).view(-1, MINIBATCH):
                    mb_obs, mb_action, mb_logp, mb_advantage, mb_target = (each[rows] for each in flat)
                    dist = Categorical(logits=policy(mb_obs))
                    logp_new, mb_value = dist.log_prob(mb_action), critic(mb_obs)
                    ratio = (logp_new - mb_logp).exp()
                    clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
                    policy_loss = -torch.min(ratio * mb_advantage, clipped * mb_advantage).mean()
                    value_loss = (mb_value - mb_target).square().mean()
                    entropy_loss = -dist.entropy().mean()
                    dbg.update(  # ← what this learner step saw
                        loss={"policy": policy_loss, "value": value_loss, "entropy": entropy_loss},
                        logp_old=mb_logp,
                        logp_new=logp_new,
                        value=mb_value,
                        target=mb_target,
                        advantage=mb_advantage,
                        dist=dist,
                        clip=CLIP,
                    )
                    optimizer.zero_grad()
                    (policy_loss + 0.5 * value_loss + 0.01 * entropy_loss).backward()
                    optimizer.step()
            tick()
    env.close()
    return dbg.close(), dbg.path


def show(html: Path, json: str | None = None, folder: Path = RUNS) -> int:
    """Train both, print what was found, write the page. 0 where the bug was named and the twin is clean, else 1."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    say = console(stderr=json == "-")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # networks this small are fastest on one
    bar = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*bar, console=console(stderr=True), transient=True) as progress:
        task = progress.add_task("training a PPO with a planted bug, and its healthy twin", total=2 * ITERATIONS)
        common: dict[str, Any] = {"folder": folder, "tick": lambda: progress.advance(task)}
        twin, twin_path = train(planted=False, run="demo-healthy", **common)
        sick, sick_path = train(planted=True, run="demo-broken", **common)
    torch.set_num_threads(threads)

    say.print("[bold]The PPO with the planted bug[/]: its advantages have the wrong sign.\n")
    recorded = read_run(sick_path)
    print_report(sick, run=recorded, to_stdout=json != "-")
    say.print("\n[bold]Its healthy twin[/]: the same program without that line.\n")
    print_report(twin, run=read_run(twin_path), to_stdout=json != "-")
    wrong = complaints(sick, twin)
    for each in wrong:
        print(f"rldebug demo: {each}", file=sys.stderr)
    if not wrong:
        say.print(
            f"\nThe planted bug was named: {sick.roots[0].code} {PLANTED}. The healthy twin is clean.", style="bold"
        )
    write_page(sick, recorded, html)
    say.print(f"The page of the broken run, to open in a browser: {html}", markup=False)
    say.print(f"Next: rldebug explain {PLANTED}\n      rldebug diff {twin_path.name} {sick_path.name}", style="dim")
    if json is not None:
        write_json(dataclasses.replace(sick, command="demo", exit=1 if wrong else 0), json)
    return 1 if wrong else 0


def complaints(sick: Report, twin: Report) -> list[str]:
    """What the demo claims and did not see: that the first root finding names the bug, and that the twin is clean."""
    wrong = []
    first = sick.roots[0].name if sick.roots else "nothing"
    if first != PLANTED:
        skipped = next((reason for code, reason in sick.skipped.items() if code == "ADV003"), None)
        wrong.append(f"the planted bug, {PLANTED}, was not named: found {first}" + (f" ({skipped})" if skipped else ""))
    loud = [f"{each.code} {each.name}" for each in twin.findings if each.severity != "note"]
    if loud:
        wrong.append(f"the healthy twin is not clean: {', '.join(loud)}")
    return wrong
