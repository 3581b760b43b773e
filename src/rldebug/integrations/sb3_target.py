"""Stable-Baselines3 and sb3-contrib: their algorithms as targets of the ladder, and models made by users likewise."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from types import ModuleType
from typing import Any

import gymnasium as gym
import numpy as np
import torch

from rldebug.parts.make import said
from rldebug.probes.agent import Factory, Learner, Target
from rldebug.probes.suited import suited
from rldebug.target import TargetError

LIBRARIES = ("stable_baselines3", "sb3_contrib")
HORIZON = 20_000  # environment steps over which schedules run: `learn` is called in portions, and no end is known
LEAST_REMAINING = 0.5  # and where they stop: a learning rate that reaches 0 would end the learning
DRAWS = 8  # actions sampled for the mean of a soft critic, and for its entropy
OURS = ("n_envs", "noise_std")  # settings that are not arguments of a model: environments side by side, action noise


def is_model(thing: Any) -> bool:
    """Whether it is a model of either library, or of a class derived from one; imports neither."""
    return any(
        kind.__module__.partition(".")[0] in LIBRARIES and kind.__name__ == "BaseAlgorithm"
        for kind in type(thing).__mro__
    )


def target(name: str, settings: Mapping[str, Any] | None = None, *, defaults: bool = False) -> Target:
    """`PPO` and the like; `settings` go over those suited to probes, or with `defaults` over the library's own."""
    kind = _find(name)
    chosen = {**({} if defaults else suited(f"sb3:{kind.__name__}")), **(settings or {})}
    known = inspect.signature(kind).parameters
    for each in chosen:
        if each not in known and each not in OURS:
            near = get_close_matches(each, [*known, *OURS], n=1)
            raise TargetError(f"sb3:{name} has no setting {each!r}" + (f": did you mean {near[0]}?" if near else ""))

    def make(factory: Factory, seed: int, wants: frozenset[str]) -> Learner:
        arguments = dict(chosen)
        envs = _vector(factory, int(arguments.pop("n_envs", 1)), wants)
        noise = arguments.pop("noise_std", None)
        if noise is not None:
            arguments["action_noise"] = _noise(envs.action_space, float(noise))
        policy = arguments.pop("policy", None) or _policy(
            envs.observation_space, recurrent="Recurrent" in kind.__name__
        )
        model = kind(policy, envs, seed=seed, **{"device": "cpu", "verbose": 0, **arguments})
        return adapt(model, masked="masks" in wants)

    return Target(f"sb3:{kind.__name__}", make, frozenset({"normaliser", "frames"} | _by_class(kind)))


def adapt(model: Any, *, masked: bool = False) -> Learner:
    """A model as the ladder uses it. `masked`: its policy without a mask is not what it plays, and not shown."""
    library = _import("stable_baselines3.common.logger")
    model.set_logger(library.Logger(folder=None, output_formats=[]))  # else each portion would open new logs
    plain = model._update_current_progress_remaining

    def as_in_a_long_run(steps: int, _: int) -> None:
        plain(min(steps, (1.0 - LEAST_REMAINING) * HORIZON), HORIZON)

    model._update_current_progress_remaining = as_in_a_long_run

    def learn(steps: int) -> None:
        model.learn(steps, reset_num_timesteps=False)

    answers: dict[str, Any] = {what: _asked(model, answer) for what, answer in _answers(model).items()}
    if masked:
        answers.pop("policy", None)
    return Learner(learn=learn, declared=_declared(model), close=lambda: _close(model), **answers)


def abilities_of(model: Any) -> frozenset[str]:
    """What a model made by others can do beyond the usual: by its class, and by how its environments are wrapped."""
    normalises = {"normaliser"} if model.get_vec_normalize_env() is not None else set()
    return frozenset(normalises | ({"frames"} if _stacks_frames(model) else set()) | _by_class(type(model)))


def _by_class(kind: type[Any]) -> set[str]:
    names = {each.__name__ for each in kind.__mro__}
    return {can for can, name in (("memory", "RecurrentPPO"), ("masks", "MaskablePPO")) if name in names}


# ── how a model is made ──


def _find(name: str) -> Any:
    """The class of this name, in any spelling of capitals."""
    known: dict[str, Any] = {}
    for library in LIBRARIES:
        try:
            module = importlib.import_module(library)
        except ImportError as error:
            if library == LIBRARIES[0]:
                raise TargetError(
                    f"sb3:{name} needs stable-baselines3, which cannot be imported here ({said(error)}): "
                    "pip install 'rldebug[sb3]'"
                ) from error
            continue
        base = _import("stable_baselines3.common.base_class").BaseAlgorithm
        kinds = [each for each in vars(module).values() if inspect.isclass(each) and issubclass(each, base)]
        known |= {each.__name__: each for each in kinds if "learn" in vars(each)}
    for each, kind in known.items():
        if each.lower() == name.lower():
            return kind
    raise TargetError(f"no algorithm sb3:{name}: expected one of {', '.join(sorted(known))}")


def _vector(factory: Factory, count: int, wants: frozenset[str]) -> Any:
    vec = _import("stable_baselines3.common.vec_env")
    envs = vec.DummyVecEnv([factory] * count)
    if "frames" in wants:
        envs = vec.VecFrameStack(envs, 2)
    if "normaliser" in wants:
        envs = vec.VecNormalize(envs, norm_obs=True, norm_reward=False)
    return envs


def _noise(space: Any, spread: float) -> Any:
    shape = space.shape
    return _import("stable_baselines3.common.noise").NormalActionNoise(np.zeros(shape), np.full(shape, spread))


def _policy(space: Any, *, recurrent: bool) -> str:
    """The policy that fits what is seen."""
    is_image = _import("stable_baselines3.common.preprocessing").is_image_space
    kind = "MultiInput" if isinstance(space, gym.spaces.Dict) else "Cnn" if is_image(space) else "Mlp"
    return f"{kind}LstmPolicy" if recurrent else f"{kind}Policy"


def _close(model: Any) -> None:
    if model.env is not None:
        model.env.close()


# ── how it is asked ──

Answer = Callable[[Any], Any]


def _asked(model: Any, answer: Answer) -> Answer:
    """From observations as environments show them to what the networks take: normalised, transposed, on the device."""

    @torch.no_grad()
    def asked(obs: Any) -> Any:
        normaliser = model.get_vec_normalize_env()
        shown = obs if normaliser is None else normaliser.normalize_obs(obs)
        model.policy.set_training_mode(False)
        return answer(model.policy.obs_to_tensor(shown)[0])

    return asked


def _answers(model: Any) -> dict[str, Answer]:
    """By what the model has, not by its class: derived ones are asked alike."""
    policy = model.policy
    if hasattr(policy, "lstm_actor") or _stacks_frames(model):
        return {}  # values and actions depend on what was seen before: they are judged by what is played
    if hasattr(policy, "predict_values"):
        return {"value": policy.predict_values, "policy": lambda obs: _chances(policy, obs)}
    if hasattr(policy, "q_net"):
        return {"q": lambda obs: policy.q_net(obs)}
    if hasattr(policy, "quantile_net"):
        return {"q": lambda obs: policy.quantile_net(obs).mean(dim=1)}
    if hasattr(policy, "critic") and hasattr(policy.actor, "action_log_prob"):
        return {
            "value": lambda obs: _of_draws(lambda: _criticised(policy.critic, obs, policy.actor(obs))),
            "bonus": lambda obs: _of_draws(lambda: -_temperature(model) * policy.actor.action_log_prob(obs)[1]),
            "policy": lambda obs: _unscaled(policy, policy.actor(obs, deterministic=True)),
        }
    if hasattr(policy, "critic"):
        return {
            "value": lambda obs: _criticised(policy.critic, obs, policy.actor(obs)),
            "policy": lambda obs: _unscaled(policy, policy.actor(obs)),
        }
    return {}


def _chances(policy: Any, obs: Any) -> Any:
    """Probabilities, where there is one choice among several; else the greedy action, within the bounds."""
    told = policy.get_distribution(obs)
    inner = getattr(told, "distribution", None)
    if isinstance(inner, torch.distributions.Categorical):
        return inner.probs
    action = told.get_actions(deterministic=True).cpu().numpy()
    if not isinstance(policy.action_space, gym.spaces.Box):
        return action
    if policy.squash_output:
        return policy.unscale_action(action)
    return np.clip(action, policy.action_space.low, policy.action_space.high)


def _criticised(critic: Any, obs: Any, action: Any) -> torch.Tensor:
    """(N,): the mean over critics, and over what each tells of a distribution; the least of them is biased by noise."""
    said = critic(obs, action)
    each = said if isinstance(said, tuple) else (said,)
    return torch.stack([one.reshape(one.shape[0], -1).mean(dim=1) for one in each]).mean(dim=0)


def _of_draws(draw: Callable[[], torch.Tensor]) -> torch.Tensor:
    return torch.stack([draw().reshape(-1) for _ in range(DRAWS)]).mean(dim=0)


def _temperature(model: Any) -> float:
    if model.log_ent_coef is not None:
        return float(model.log_ent_coef.detach().exp())
    return float(model.ent_coef_tensor)


def _unscaled(policy: Any, action: torch.Tensor) -> Any:
    """From the actor's −1 … 1 to the range of the environment."""
    return policy.unscale_action(action.cpu().numpy())


def _declared(model: Any) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if isinstance(getattr(model, "gamma", None), (int, float)):
        told["gamma"] = float(model.gamma)
    steps = getattr(model, "n_steps", None)
    if hasattr(model, "gae_lambda"):
        told["lam"] = float(model.gae_lambda)
        told["rollout"] = int(steps) if steps else None
    elif hasattr(model, "replay_buffer"):
        told["n_step"] = int(steps or 1)
    return {name: each for name, each in told.items() if each is not None}


def _stacks_frames(model: Any) -> bool:
    wrapped = _import("stable_baselines3.common.vec_env")
    return model.env is not None and bool(wrapped.is_vecenv_wrapped(model.env, wrapped.VecFrameStack))


def _import(name: str) -> ModuleType:
    return importlib.import_module(name)


def checkers() -> tuple[Callable[[gym.Env[Any, Any]], None], ...]:
    """Its own checker of environments, where it is installed."""
    try:
        found: Callable[[gym.Env[Any, Any]], None] = _import("stable_baselines3.common.env_checker").check_env
    except ImportError:
        return ()
    return (found,)
