"""The observation has another shape than the environment declares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import at, shown
from rldebug.evidence.crashes.signs import observation_unlike_space, operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ObservationUnlikeItsSpace(Rule):
    """The observation has another shape than the environment declares.

    ## What it checks
    Storing a row failed; the storage has the shape of the environment's `observation_space`, and the row has another.
    Or a vector of environments could not put the observations of all together.

    ## Why it matters
    Everything that is made from the space, the buffer and the first layer, is made for other observations.

    ## Likely causes
    1. A wrapper changes the observation without its space, or the space without the observation. Confirm: compare
       `obs.shape` with `env.observation_space.shape` behind each wrapper.
    2. An axis of length 1, as the channel of a grey image, is dropped. Confirm: the same.

    ## What to try first
    Run `rldebug env` on the environment; it names the layer.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `check_env`.
    """

    code: ClassVar[str] = "PRE407"
    name: ClassVar[str] = "observation-unlike-its-space"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        observed = evidence.graph.get("fault") == "observed"
        return observed or observation_unlike_space(evidence) or _in_a_vector(evidence)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        if evidence.graph.get("fault") == "observed":
            yield self._fed(evidence)
            return
        found = re.search(r"input array from shape (\([\d,]*\)) into shape (\([\d,]*\))", evidence.message)
        shapes = f": {found[1]} instead of {found[2]}" if found else _shapes(evidence)
        environments = [fact for _, _, fact in evidence.held("environment") if fact.get("observation_space")]
        space = tuple(environments[0]["observation_space"]["shape"] or ()) if environments else None
        layers = [layer["type"] for layer in environments[0].get("layers", [])] if environments else []
        yield self.finding(
            f"an observation has another shape than its space{shapes}",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}"
            + (f"; the space of {' around '.join(layers)} has shape {space}" if space else ""),
            expected="observations of the shape that observation_space declares",
            help="compare obs.shape with env.observation_space.shape behind each wrapper, and let the one that changes "
            "the observation change the space too; gymnasium's check_env(env) does it for you",
            confidence=0.75,
        )

    def _fed(self, evidence: Crash) -> Finding:
        """A network was made for the space, and fed with what really came."""
        graph = evidence.graph
        env, shape, space, blame = graph["env"], tuple(graph["shape"]), tuple(graph["space"]), graph.get("blame")
        where = blame if blame and blame.get("file") else graph["answered"]
        who = f"{blame['layer']} " if blame else ""
        how = (
            "declares that itself"
            if blame and blame["declares"]
            else "changes the observation and leaves the space as it was"
        )
        return self.finding(
            f"{env} gives observations of {shape}, and its observation_space says {space}",
            where=at(evidence, where),
            seen=f"{evidence.said}; {graph['name']} came out of {env} as {shape}, in "
            f"{shown(evidence, graph['answered'])}" + (f"; {who}{how}" if blame else ""),
            expected="observations of the shape that observation_space declares",
            help=f"let {who or 'the wrapper that changes them '}set self.observation_space to a Box of shape {shape}: "
            "the "
            "network is made from it",
            confidence=0.9,
        )


def _in_a_vector(crash: Crash) -> bool:
    """A vector of environments puts the observations of all into one array."""
    refused = crash.says("Output array is the wrong shape", "could not broadcast input array", "cannot reshape array")
    return refused and crash.inside("gymnasium.vector.utils", "stable_baselines3.common.vec_env.dummy_vec_env")


def _shapes(crash: Crash) -> str:
    """Of what the environments returned, and of the place that the vector has for each."""
    rows = [fact for frame in crash.frames for name, fact in frame.facts.items() if name == "self._env_obs"]
    whole = [fact for frame in crash.frames for name, fact in frame.facts.items() if name == "self._observations"]
    items = rows[0].get("items", []) if rows else []
    if not items or not whole or "shape" not in items[0] or "shape" not in whole[0]:
        return ""
    return f": {tuple(items[0]['shape'])} instead of {tuple(whole[0]['shape'][1:])}"
