"""The last observation is looked for under the other library's name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.made_envs import convention
from rldebug.syntax.names import constant, dotted, method, receiver
from rldebug.syntax.places import scope_of
from rldebug.syntax.stepping import is_vector_env, steps

_OTHERS = {
    "gymnasium": frozenset({"terminal_observation"}),
    "sb3": frozenset({"final_observation", "final_obs", "final_info"}),
}


@dataclass(frozen=True, kw_only=True)
class FinalObservationUnderAnotherName(Rule):
    """The last observation is looked for under the other library's name.

    ## What it checks
    `infos` of a vector environment is asked for `terminal_observation`, which only Stable-Baselines3 gives, or
    `final_observation`, `final_obs` or `final_info`, which only Gymnasium gives, of the other one's environment.
    How it was made is read from the source.

    ## Why it matters
    Where the key is only used when it is there, it never is: the observation after the reset takes the place of the
    last one, and values are bootstrapped from another episode.

    ## Likely causes
    1. The code comes from a program with the other library. Confirm: print the keys of `infos` at the end of an
       episode.

    ## What to try first
    Gymnasium (from 1.0): `infos["final_obs"]`, with `AutoresetMode.SAME_STEP`. Stable-Baselines3:
    `infos[i]["terminal_observation"]`.

    ## When it is fine
    Nothing that is known of.

    ## References
    BUF-06 of bench/bugs. Gymnasium, *Vector environments: autoreset*.
    """

    code: ClassVar[str] = "BUF606"
    name: ClassVar[str] = "final-observation-under-another-name"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("ENV404", "BUF304")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for step in steps(evidence):
            infos, form = step.named("info"), convention(evidence, step.env)
            if not infos or not is_vector_env(evidence, step.env) or not form:
                continue
            keys = list(_keys(scope_of(evidence, step.call), infos))
            right = "final_obs" if form == "gymnasium" else "terminal_observation"
            if any(key == right for _, key in keys):
                continue
            for node, key in keys:
                if key in _OTHERS[form]:
                    whose = "Gymnasium" if form == "gymnasium" else "Stable-Baselines3"
                    yield self.finding(
                        f"{infos} of {evidence.quoted(step.env)} never has {key!r}: {whose} calls it {right!r}",
                        where=evidence.at(node),
                        seen=evidence.quoted(node),
                        expected=f"{right!r}",
                        help=f'{infos}["{right}"]' if form == "gymnasium" else f'{infos}[i]["{right}"]',
                        confidence=0.9,
                    )


def _keys(scope: ast.AST, infos: str) -> Iterator[tuple[ast.expr, str]]:
    """The keys that infos, or each of them in a loop, is asked for."""
    names = {infos} | {
        each.id
        for node in ast.walk(scope)
        if isinstance(node, ast.For | ast.comprehension) and infos in {dotted(one) for one in ast.walk(node.iter)}
        for each in ast.walk(node.target)
        if isinstance(each, ast.Name)
    }
    for node in ast.walk(scope):
        asked_of: ast.expr | None = None
        key: object = None
        if isinstance(node, ast.Subscript):
            asked_of, key = node.value, constant(node.slice)
        elif isinstance(node, ast.Call) and method(node) in ("get", "pop") and node.args:
            asked_of, key = receiver(node), constant(node.args[0])
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            asked_of, key = node.comparators[0], constant(node.left)
        while isinstance(asked_of, ast.Subscript):
            asked_of = asked_of.value
        if isinstance(node, ast.expr) and isinstance(key, str) and asked_of is not None and dotted(asked_of) in names:
            yield node, key
