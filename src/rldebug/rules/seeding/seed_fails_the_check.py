"""The same seed and action do not lead to the same step."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import class_in
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_GLOBAL = re.compile(r"^(np|numpy)\.random\.(?!default_rng|Generator|RandomState|SeedSequence|PCG64)\w+$|^random\.\w+$")
_TORCH = re.compile(r"^torch\.(rand|randn|randint|randperm|normal|bernoulli|multinomial)$")


@dataclass(frozen=True, kw_only=True)
class SeedFailsTheCheck(Rule):
    """The same seed and action do not lead to the same step.

    ## What it checks
    A checker reset an environment twice with one seed, and got other observations, rewards or endings; or its generator
    had not been seeded.

    ## Why it matters
    A run cannot be repeated, and two runs that differ in one setting differ in all others too.

    ## Likely causes
    1. The environment draws from `np.random`, `random` or `torch`, which `reset(seed=…)` does not seed. Confirm: look
       for it in its class.
    2. `reset()` does not call `super().reset(seed=seed)`. Confirm: look at it.
    3. `reset()` leaves some state as it was: a counter, a table, a running mean. Confirm: compare what `step()` changes
       with what `reset()` sets.
    4. The clock, a set, or another process takes part. Confirm: look for it.

    ## What to try first
    Call `super().reset(seed=seed)` first, and draw from `self.np_random` only.

    ## When it is fine
    Where the environment is not deterministic by its nature: register it with `nondeterministic=True`.

    ## References
    Gymnasium, `check_env`; `Env.np_random`.
    """

    code: ClassVar[str] = "SEE440"
    name: ClassVar[str] = "seed-fails-the-check"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "Deterministic step (observations|rewards|termination|info) are not equivalent for the same seed",
            r"Using `env\.reset\(seed=\d+\)`.* is non-deterministic",
            r"does not call `super\(\)\.reset\(seed=seed\)`",
            r"`\.np_random` is not properly been updated after step",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        kind, draws, seeded = _looked_at(evidence)
        left = "; ".join(draws[:3])
        unseeded = evidence.says("does not call") or not seeded
        what = re.search(r"step (observations|rewards|termination|info)", evidence.message)
        yield self.finding(
            f"one seed gives different {what[1] if what else 'episodes'} in {kind}",
            where=evidence.where,
            seen=f"{evidence.said}{f'; {left}' if left else ''}"
            + ("; its reset() does not call super().reset(seed=seed)" if unseeded else ""),
            expected="the same steps for the same seed and actions",
            help=f"draw from self.np_random instead, and begin reset() with super().reset(seed=seed): {left}"
            if left
            else "begin reset() with super().reset(seed=seed)"
            if unseeded
            else "set in reset() everything that step() changes, and draw from self.np_random only",
            confidence=0.9,
        )


def _looked_at(crash: Crash) -> tuple[str, list[str], bool]:
    """The environment's class, its draws from generators that belong to all, and whether its reset() seeds its own."""
    layers = [layer for _, _, fact in crash.held("environment") for layer in fact.get("layers", [])]
    own = next((layer for layer in reversed(layers) if layer.get("classes")), None)
    if own is None:
        return (layers[-1]["type"] if layers else "the environment"), [], True
    bodies = [(Path(file).name, body) for file, line in own["classes"] if (body := class_in(file, line)) is not None]
    draws = [
        f"{ast.unparse(node.func)} at {file}:{node.lineno}"
        for file, body in bodies
        for node in ast.walk(body)
        if isinstance(node, ast.Call) and _is_global(ast.unparse(node.func))
    ]
    methods = [each for _, body in bodies for each in body.body if isinstance(each, ast.FunctionDef)]
    resets = [each for each in methods if each.name == "reset"]
    return own["type"], draws, not resets or "super().reset(" in ast.unparse(resets[0])


def _is_global(name: str) -> bool:
    return bool(_GLOBAL.match(name) or _TORCH.match(name))
