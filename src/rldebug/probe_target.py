"""From what the user names to something that can climb: an algorithm of ours, of a library, or made by a function."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rldebug import stepwise
from rldebug.integrations import sb3_target as sb3
from rldebug.parts.make import said
from rldebug.probes.agent import Ended, Factory, Learner, Target, adapt
from rldebug.probes.probe import Probe
from rldebug.probes.shelf import find, probes
from rldebug.settings import SettingsError
from rldebug.target import TargetError, is_target, load
from rldebug.train import find as find_algorithm
from rldebug.train import names as algorithms

ABILITIES = ("normaliser", "frames", "memory", "masks", "vector")
FORMS = "algo:ppo, sb3:PPO, package.module:make_agent or path/to/file.py:make_agent"


@dataclass(frozen=True)
class Known:
    """What trying a target once has shown."""

    target: Target  # its abilities include "continuous" where it takes numbers besides choices
    action: str  # discrete, or continuous where it takes numbers only
    declared: Mapping[str, Any]
    tells_values: bool


def resolve(
    target: str | Callable[..., Any] | Target,
    *,
    settings: Mapping[str, Any] | None = None,
    abilities: Iterable[str] = (),
    defaults: bool = False,
) -> Target:
    """`settings` go over those suited to probes, or with `defaults` over its own; a function is called with them."""
    settings, more = settings or {}, frozenset(abilities)
    if unknown := sorted(more - {*ABILITIES}):
        raise TargetError(f"no ability is called {', '.join(unknown)}: expected {', '.join(ABILITIES)}")
    if isinstance(target, Target):
        found = target
    elif isinstance(target, str):
        found = _named(target, settings, defaults)
    elif callable(target):
        found = made_by(target, getattr(target, "__name__", type(target).__name__), settings)
    else:
        raise TargetError(
            f"the target is a {type(target).__name__}: expected {FORMS}, or a function make_agent(make_env)"
        )
    return dataclasses.replace(found, abilities=found.abilities | more)


def made_by(make_agent: Callable[..., Any], name: str, settings: Mapping[str, Any] | None = None) -> Target:
    """What a function `make_agent(make_env)` returns: an SB3 model, or an object as probes/agent.py describes it.

    Where it takes `seed` or `wants`, it is given the seed, and the set of abilities that the rung is about.
    """
    if not callable(make_agent):
        kind = type(make_agent).__name__
        raise TargetError(f"{name} is a {kind}: expected a function make_agent(make_env) that returns an agent")
    takes = _takes(make_agent, name)
    for each in settings or {}:
        if not takes(each):
            raise TargetError(f"{name} takes no {each!r}: settings are given to it as keyword arguments")
    return Target(name, _Maker(make_agent, name, takes, settings or {}), _abilities_of(make_agent, name))


class _Maker:
    """Calls the user's function; remembers what the agents it made say they can do."""

    def __init__(
        self, make_agent: Callable[..., Any], name: str, takes: Callable[[str], bool], settings: Mapping[str, Any]
    ) -> None:
        self.make_agent, self.name, self.takes, self.settings = make_agent, name, takes, settings
        self.abilities: frozenset[str] = frozenset()

    def __call__(self, factory: Factory, seed: int, wants: frozenset[str]) -> Learner:
        offered = {"seed": seed, "wants": wants}
        given = {each: value for each, value in offered.items() if self.takes(each)} | dict(self.settings)
        agent = self.make_agent(factory, **given)
        if agent is None:
            raise TargetError(f"{self.name} returned None: expected an SB3 model, or an object with learn(steps)")
        if sb3.is_model(agent):
            self.abilities |= sb3.abilities_of(agent)
            return sb3.adapt(agent, masked="masks" in wants)
        self.abilities |= _abilities_of(agent, self.name)
        return adapt(agent, self.name)


def try_out(target: Target, kinds: Iterable[type[Probe]]) -> Known:
    """Make it once on choices, else on numbers, and let it learn for a moment: what it cannot take is known by then."""
    first = find("constant-reward")
    reasons: dict[str, str] = {}
    for action in ("discrete", "continuous"):
        try:
            learner = _tried(target, first, action)
        except Exception as error:
            if isinstance(error, (TargetError, SettingsError)):
                raise
            reasons[action] = str(error) if isinstance(error, Ended) else said(error)
            continue
        abilities = set(target.abilities) | getattr(target.make, "abilities", frozenset())
        if action == "discrete" and any(kind.range is not None for kind in kinds):
            with_range = next(kind for kind in probes() if kind.range is not None)
            try:
                _tried(target, with_range, "continuous")
                abilities.add("continuous")
            except Exception:  # that is what is to be found out: it takes choices only
                pass
        tells = learner.value is not None or learner.q is not None
        return Known(dataclasses.replace(target, abilities=frozenset(abilities)), action, learner.declared, tells)
    if len(set(reasons.values())) == 1:
        raise TargetError(f"{target.name} could not be run: {reasons['discrete']}")
    raise TargetError(
        f"{target.name} could be run neither where actions are choices ({reasons['discrete']}) nor where they are "
        f"numbers ({reasons['continuous']})"
    )


def _tried(target: Target, kind: type[Probe], action: str) -> Learner:
    factory = Factory(kind(), action=action)
    learner = target.make(factory, 0, frozenset())
    try:
        learner.learn(1)
        if not factory.log:
            raise TargetError(
                f"{target.name}: learn(1) took no step in the environments that make_env() makes, or took them in "
                "another process, where they are not seen (gymnasium's SyncVectorEnv has them in this one)"
            )
    finally:
        learner.close()
    return learner


def _named(text: str, settings: Mapping[str, Any], defaults: bool) -> Target:
    kind, _, name = text.partition(":")
    if kind == "algo":
        if name.lower() not in algorithms():
            raise TargetError(
                f"no algorithm {text}: expected one of {', '.join(f'algo:{each}' for each in algorithms())}"
            )
        own = dataclasses.asdict(find_algorithm(name).Settings()) if defaults else {}
        return stepwise.target(name.lower(), {**own, **settings})
    if kind == "sb3":
        return sb3.target(name, settings, defaults=defaults)
    if text.endswith(".py"):
        raise TargetError(
            f"{text} is a script: say which of its options takes an environment's id, as --env-flag --env-id, "
            f"or which function in it makes an agent, {text}:make_agent"
        )
    if not is_target(text):
        hint = f"did you mean algo:{text.lower()}?" if text.lower() in algorithms() else f"expected {FORMS}"
        raise TargetError(f"no target {text!r}: {hint}")
    return made_by(load(text), text, settings)


def _takes(make_agent: Callable[..., Any], name: str) -> Callable[[str], bool]:
    """Whether the function takes a keyword; one that cannot be called with `make_env` alone is refused."""
    try:
        signature = inspect.signature(make_agent)
    except (TypeError, ValueError):  # a builtin, or an extension's class: calling it will show
        return lambda _: False
    parameters = signature.parameters
    offered = {each: None for each in ("seed", "wants") if each in parameters}
    required = [each for each in parameters.values() if each.default is each.empty and each.name not in offered]
    try:
        signature.bind(None, **offered)
    except TypeError as error:
        many = [each.name for each in required if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
        takes = f"takes ({', '.join(many)})" if many else "takes no argument"
        raise TargetError(f"{name} {takes}: expected make_agent(make_env), and seed if it likes") from error
    every = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    first = next(iter(parameters), None)
    return lambda each: each != first and (each in parameters or (every and each not in ("seed", "wants")))


def _abilities_of(thing: Any, name: str) -> frozenset[str]:
    told = getattr(thing, "abilities", ())
    told = {told} if isinstance(told, str) else set(told) if isinstance(told, Iterable) else set()
    if unknown := sorted(str(each) for each in told - {*ABILITIES}):
        raise TargetError(f"{name}.abilities has {', '.join(unknown)}: expected any of {', '.join(ABILITIES)}")
    return frozenset(told)
