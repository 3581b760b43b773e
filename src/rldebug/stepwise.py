"""The reference algorithms, in portions: train for a while, look at the networks, and go on.

Each algorithm is one function with one loop, and should stay so. It runs in a thread of its own that waits between two
iterations while the other one looks: never do both run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor

from rldebug.parts.heads import as_tensor
from rldebug.parts.preprocess import FrameStack
from rldebug.probes.agent import Factory, Learner, Target
from rldebug.probes.suited import suited
from rldebug.settings import choose
from rldebug.train import find
from rldebug.training import Kept, Training

_FOR_EVER = 10**12  # environment steps: schedules over the whole run stay at their beginning
_WRAPPERS = {"frames": lambda env: FrameStack(env, 2)}


def target(algorithm: str, changes: Mapping[str, Any] | None = None, *, module: ModuleType | None = None) -> Target:
    """A reference algorithm as something to probe, at settings suited to that; `changes` go over those."""
    found = module or find(algorithm)
    known = suited(f"algo:{algorithm}")

    def make(factory: Factory, seed: int, wants: frozenset[str]) -> Learner:
        extra = {"normalise_obs": True} if "normaliser" in wants and "normalise_obs" in _fields(found) else {}
        settings = choose(found.Settings, known, {**extra, **(changes or {})})
        wrap: Callable[[Any], Any] = _WRAPPERS["frames"] if "frames" in wants else lambda env: env
        return Stepwise(algorithm, found, settings, lambda: wrap(factory()), seed).learner()

    abilities = {"frames"} | ({"normaliser"} if "normalise_obs" in _fields(found) else set())
    return Target(f"algo:{algorithm}", make, frozenset(abilities))


class Stepwise(Training):
    """A training run that stops where `learn` wants it to, with its networks at hand."""

    def __init__(
        self, algorithm: str, module: ModuleType, settings: Any, make: Callable[[], gym.Env[Any, Any]], seed: int
    ) -> None:
        super().__init__(algorithm, "probe", steps=_FOR_EVER, settings=settings, make=make, seed=seed, quiet=True)
        self._module = module
        self._until = 0
        self._go, self._looked = threading.Semaphore(0), threading.Semaphore(0)
        self._over = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._wait()  # until it is built: what it cannot be built for is said at once

    def begin(self, **kept: Kept) -> Any:
        self._pause()
        return super().begin(**kept)

    def iterations(self, steps_each: int) -> Iterator[int]:
        while not self._over:
            if self.steps_done >= self._until:
                self._pause()
                if self._over:
                    return
            yield self.iteration
            self.iteration += 1
            self.steps_done += steps_each
            if self._envs is not None:
                self._envs.finished = []

    def learn(self, steps: int) -> None:
        self._until = self.steps_done + steps
        self._go.release()
        self._wait()

    def stop(self) -> None:
        self._over = True
        self._go.release()
        self._thread.join(timeout=10.0)

    def learner(self) -> Learner:
        self.learn(0)  # up to the first iteration: from here on its networks are known
        read = _reader(self._kept)
        space = self._envs.single_observation_space  # type: ignore[union-attr]

        def ask(what: str) -> Callable[[Any], Any]:
            @torch.no_grad()
            def answer(obs: Any) -> Any:
                return read[what](as_tensor(space, obs, self.device))

            return answer

        asked: dict[str, Any] = {what: ask(what) for what in read}
        return Learner(learn=self.learn, close=self.stop, declared=_declared(self.settings), **asked)

    def _run(self) -> None:
        try:
            self._module.train(self, self.settings)
        except _Stopped:
            pass
        except BaseException as error:
            self._error = error
        self._looked.release()

    def _pause(self) -> None:
        self._looked.release()
        self._go.acquire()
        if self._over:
            raise _Stopped

    def _wait(self) -> None:
        self._looked.acquire()
        if self._error is not None:
            error, self._error = self._error, None
            raise error


class _Stopped(Exception):
    """Nobody wants to go on: the thread ends."""


def _reader(kept: Mapping[str, Any]) -> dict[str, Callable[[Any], Any]]:
    """How to ask the networks that an algorithm said it keeps."""
    if "q" in kept:
        return {"q": kept["q"]}
    if "critics" in kept:
        return _soft_reader(kept["policy"], kept["critics"], kept["temperature"])
    if "model" in kept:
        return {"value": lambda obs: kept["model"](obs)[1], "policy": lambda obs: _shown(kept["model"](obs)[0])}
    if "models" in kept:
        policy, critic = kept["models"]["policy"], kept["models"]["critic"]
        return {"value": lambda obs: critic(critic.sees(obs, policy)), "policy": lambda obs: _shown(policy(obs))}
    policy, critic, norm = kept["policy"], kept["critic"], kept["norm"]
    return {"value": lambda obs: critic(norm(obs)), "policy": lambda obs: _shown(policy(norm(obs)))}


def _soft_reader(policy: Any, critics: Any, temperature: Any) -> dict[str, Callable[[Any], Any]]:
    """Soft actor-critic's values hold a bonus for entropy, which the right answer must hold too."""

    def value(obs: Any) -> Tensor:
        # The mean over actions and critics: the least of both, as learning uses it, would be biased by their noise.
        draws = [critics(obs, policy(obs).sample()).mean(0) for _ in range(4)]
        return torch.stack(draws).mean(0)

    def bonus(obs: Any) -> Tensor:
        acting = policy(obs)
        logp = torch.stack([acting.log_prob(acting.sample()) for _ in range(8)]).mean(0)
        paid: Tensor = -temperature.log.exp() * logp
        return paid

    return {"value": value, "bonus": bonus, "policy": lambda obs: policy(obs).mode()}


def _shown(distribution: Any) -> Any:
    """Probabilities, where there is one choice among several; else the greedy action."""
    plain = distribution.torch()
    if isinstance(plain, torch.distributions.Categorical) and plain.logits.dim() == 2:
        return plain.probs
    return np.asarray(distribution.to_env(distribution.mode()))


def _declared(settings: Any) -> dict[str, Any]:
    said = {name: getattr(settings, name) for name in ("gamma", "lam", "n_step") if hasattr(settings, name)}
    if not hasattr(settings, "lam"):
        said.setdefault("n_step", 1)
    elif hasattr(settings, "steps"):
        said["rollout"] = settings.steps
    return said


def _fields(module: ModuleType) -> set[str]:
    return set(module.Settings.__dataclass_fields__)
