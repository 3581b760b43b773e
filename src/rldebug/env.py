"""`rldebug env`: known agents play an environment, its contract is examined, and one report says what is wrong."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym

from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Report
from rldebug.integrations import dm_env, pettingzoo
from rldebug.integrations.sb3_target import checkers
from rldebug.parts.make import EnvError, make_env, said
from rldebug.probes.agents.automaton import Written
from rldebug.probes.examine import examine
from rldebug.probes.examine_agents import examine_agents
from rldebug.probes.examine_layers import place
from rldebug.probes.play import play
from rldebug.target import is_target, load

Target = str | Callable[..., gym.Env[Any, Any]]

_EXAMINING = 0.5  # share of the time


def check_env(
    target: Target,
    *,
    env_args: Mapping[str, Any] | None = None,
    steps: int = 12_000,
    seconds: float = 30.0,
    seed: int = 0,
    automaton: str | Callable[..., Any] | None = None,
    config: Config | None = None,
) -> Report:
    """What is wrong with an environment.

    `target` is a Gymnasium id, `module:name` or `path/to/file.py:name` of a class or function, or something that makes
    one. `steps` bounds each player, `seconds` roughly everything. `automaton` plays besides: a function `obs -> action`
    or `(obs, t) -> action`, or where to find one. Raises EnvError or TargetError where no environment can be made.
    """
    report, _ = check_and_play(
        target, env_args=env_args, steps=steps, seconds=seconds, seed=seed, automaton=automaton, config=config
    )
    return report


def check_and_play(
    target: Target,
    *,
    env_args: Mapping[str, Any] | None = None,
    steps: int = 12_000,
    seconds: float = 30.0,
    seed: int = 0,
    automaton: str | Callable[..., Any] | None = None,
    config: Config | None = None,
) -> tuple[Report, EnvPlay]:
    """`check_env`, and beside the report what was played."""
    if steps < 1 or not seconds > 0:
        raise EnvError(f"expected at least one step and some time, got {steps=} and {seconds=}")
    make, name = resolve(target, env_args or {})
    agents = [] if automaton is None else [_written(automaton)]
    examined = _examine(make, name, min(steps, 4000), seed, _EXAMINING * seconds)
    played = play(make, name=name, agents=agents, steps=steps, seed=seed, seconds=(1 - _EXAMINING) * seconds)
    report = diagnose([*examined, played], config=config, command="env", title=name)
    return dataclasses.replace(report, program=played.to_dict(), exit=0 if report.clean else 1), played


def _examine(make: Callable[..., gym.Env[Any, Any]], name: str, steps: int, seed: int, seconds: float) -> list[Any]:
    """The contract; and of an environment of another library, what that library asks besides."""
    made = make()
    made.close()
    if isinstance(made, pettingzoo.Together):
        among = examine_agents(
            lambda: vars(make())["parallel"], name=name, steps=steps, seed=seed, seconds=0.2 * seconds
        )
        asked = pettingzoo.checkers(made)
        contract = examine(make, name=name, steps=steps, seed=seed, seconds=0.8 * seconds, checkers=asked, own=False)
        return [among, dataclasses.replace(contract, where=among.where)]
    if isinstance(made, dm_env.TimeStepped):
        contract = examine(make, name=name, steps=steps, seed=seed, seconds=seconds, own=False)
        odd = dm_env.protocol(lambda: vars(make())["stepped"], seed)
        return [dataclasses.replace(contract, structure=(*odd, *contract.structure), where=place(type(made.stepped)))]
    return [examine(make, name=name, steps=steps, seed=seed, seconds=seconds, checkers=checkers())]


def resolve(target: Target, env_args: Mapping[str, Any]) -> tuple[Callable[..., gym.Env[Any, Any]], str]:
    """A function that makes the environment, and its name. Tried once, so that what is wrong is said at once.

    What it is called with goes to the environment besides `env_args`.
    """
    if isinstance(target, str) and not is_target(target):  # ids end in a version, which is no name of Python's

        def make(**more: Any) -> gym.Env[Any, Any]:
            return make_env(target, preprocess=False, **{**env_args, **more})

        return _tried(make, target), target
    found: Any = load(target) if isinstance(target, str) else target
    name = target if isinstance(target, str) else getattr(target, "__qualname__", type(target).__name__)
    if isinstance(found, gym.Env):
        raise EnvError(f"{name} is an environment made already: expected its class, or a function that makes it")
    if not callable(found):
        raise EnvError(
            f"{name} is a {type(found).__name__}: expected a class, or a function that makes the environment"
        )

    def call(**more: Any) -> gym.Env[Any, Any]:
        return _as_gymnasium(found, {**env_args, **more})

    return _tried(call, name), name


def _as_gymnasium(found: Callable[..., Any], arguments: Mapping[str, Any]) -> gym.Env[Any, Any]:
    """What it makes; an environment of PettingZoo or dm_env is shown as one of Gymnasium."""
    made: Any = found(**arguments)
    if pettingzoo.takes_turns(made):
        made = pettingzoo.in_parallel(made)
    if pettingzoo.is_parallel(made):
        return pettingzoo.together(made)
    if dm_env.is_time_stepped(made):
        seeded = dm_env.seed_argument(found)
        return dm_env.as_gymnasium(lambda **more: found(**{**arguments, **more}), seeded, made)
    return made  # type: ignore[no-any-return]


def _tried(make: Callable[..., gym.Env[Any, Any]], name: str) -> Callable[..., gym.Env[Any, Any]]:
    try:
        made = make()
    except EnvError:
        raise
    except (Exception, SystemExit) as error:
        raise EnvError(f"{name} could not be made: {said(error)}{_missing(error)}") from error
    try:
        if not isinstance(made, gym.Env):
            old = ": an environment for gym, not for Gymnasium" if hasattr(made, "step") else ""
            others = "an environment of PettingZoo or of dm_env"
            raise EnvError(f"{name} made a {type(made).__name__}{old}, expected a gymnasium.Env, or {others}")
        if inspect.ismethod(getattr(made, "step_async", None)) or hasattr(made, "num_envs"):
            raise EnvError(f"{name} made a vector environment, expected a single one")
        for space in ("observation_space", "action_space"):
            if not isinstance(getattr(made, space, None), gym.Space):
                raise EnvError(f"{name} has no {space}: set it in __init__, to a space of gymnasium.spaces")
    finally:
        with contextlib.suppress(Exception):
            made.close()
    return make


def _missing(error: BaseException) -> str:
    """What to do where the class wants arguments."""
    return "; hand them over with --env-arg KEY=VALUE" if "required" in str(error) and "argument" in str(error) else ""


def _written(automaton: str | Callable[..., Any]) -> Written:
    found = load(automaton) if isinstance(automaton, str) else automaton
    if not callable(found):
        raise EnvError(
            f"{automaton} is a {type(found).__name__}: expected a function obs -> action or (obs, t) -> action"
        )
    return Written(found)
