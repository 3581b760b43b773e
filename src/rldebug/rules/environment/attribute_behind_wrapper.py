"""An attribute of the environment is asked of a wrapper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.facts import Fact
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

# Wrappers and vectors of the libraries: a printed traceback tells only the name of the class.
_LIBRARY = frozenset(
    [
        "TimeLimit",
        "OrderEnforcing",
        "PassiveEnvChecker",
        "RecordEpisodeStatistics",
        "RecordVideo",
        "Autoreset",
        "FrameStackObservation",
        "AtariPreprocessing",
        "NormalizeObservation",
        "NormalizeReward",
        "ClipAction",
        "RescaleAction",
        "FlattenObservation",
        "TransformObservation",
        "TransformReward",
        "ResizeObservation",
        "GrayscaleObservation",
        "TimeAwareObservation",
        "DtypeObservation",
        "SyncVectorEnv",
        "AsyncVectorEnv",
        "Monitor",
        "DummyVecEnv",
        "SubprocVecEnv",
        "VecNormalize",
        "VecFrameStack",
        "VecMonitor",
        "VecTransposeImage",
    ]
)
_SPACES = ("observation_space", "action_space", "single_observation_space", "single_action_space")


@dataclass(frozen=True, kw_only=True)
class AttributeBehindWrapper(Rule):
    """An attribute of the environment is asked of a wrapper.

    ## What it checks
    A wrapper was asked for an attribute that it does not have: one of the environment inside, or one that is gone.

    ## Why it matters
    Since Gymnasium 1.0 wrappers pass on nothing but what the API names.

    ## Likely causes
    1. `env.x`, where `x` belongs to the environment inside the wrappers that `make()` puts around it. Confirm: print
       `env`.
    2. `env.seed()`, which is gone: `reset(seed=…)` seeds. Confirm: look at the line.
    3. A vector environment is asked what each of its environments has. Confirm: print its type.

    ## What to try first
    Write `env.unwrapped.x` for the innermost, `env.get_wrapper_attr("x")` for a wrapper in between.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, *Migration guide v0.21 to v1.0*; `Wrapper.get_wrapper_attr`.
    """

    code: ClassVar[str] = "ENV440"
    name: ClassVar[str] = "attribute-behind-wrapper"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return _asked(evidence) is not None

    def check(self, evidence: Crash) -> Iterator[Finding]:
        asked = _asked(evidence)
        if asked is None:
            return
        kind, attribute, name, layers = asked
        holder = next((depth for depth, layer in enumerate(layers) if attribute in layer["names"]), None)
        path = name or "env"
        depth = f"{holder} {'layer' if holder == 1 else 'layers'} further in"
        inside = f"; it is one of {layers[holder]['type']}, {depth}" if holder else ""
        yield self.finding(
            f"{f'the environment {name}' if name else 'a wrapper'}, a {kind}, has no {attribute}",
            where=evidence.where,
            seen=f"{evidence.said}{inside}",
            expected="what a wrapper itself has",
            help=_help(path, attribute, layers, holder),
            confidence=0.9,
        )


def _asked(crash: Crash) -> tuple[str, str, str, list[Fact]] | None:
    """The wrapper's class, the attribute, the name of the wrapper, and its layers from the outside in."""
    said = re.search(r"(?:'(\w+)' object|wrapper (\w+)) has no attribute '(\w+)'", crash.message)
    if said is None or not crash.is_a("AttributeError") or said[3] in _SPACES:
        return None
    kind, attribute = said[1] or said[2], said[3]
    for _, name, fact in crash.held("environment"):
        layers: list[Fact] = fact.get("layers", [])
        types = [layer["type"] for layer in layers]
        if kind in types and (types.index(kind) < len(types) - 1 or attribute == "seed"):
            return kind, attribute, name, layers[types.index(kind) :]
    seeds = attribute == "seed" and crash.at is not None and ".seed(" in crash.at.source  # no setting of that name
    return (kind, attribute, "", []) if kind in _LIBRARY or seeds else None


def _help(path: str, attribute: str, layers: list[Fact], holder: int | None) -> str:
    if attribute == "seed":
        return (
            f"write {path}.reset(seed=seed) once, before the first episode; {path}.action_space.seed(seed) for sample()"
        )
    vector = bool(layers) and "envs" in layers[0]["names"]
    if vector or (layers and layers[0]["type"].endswith("VecEnv")):
        return f'write {path}.get_attr("{attribute}"), which gives one value for each environment'
    if holder is not None and holder < len(layers) - 1:
        return f'write {path}.get_wrapper_attr("{attribute}")'
    if holder is None and layers:
        return f"none of the layers has it: {', '.join(layer['type'] for layer in layers)}. Is it spelled so?"
    return f'write {path}.unwrapped.{attribute}, or {path}.get_wrapper_attr("{attribute}") for one in between'
