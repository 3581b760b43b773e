"""Noise is added to the deviation of the policy's distribution."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import meant
from rldebug.syntax.names import argument, library
from rldebug.syntax.places import calls
from rldebug.syntax.sums import factors, terms

_SCALED = ("Normal", "LogNormal", "Laplace", "Cauchy", "Gumbel")
_DRAWS = ("torch.randn", "torch.randn_like", "torch.rand", "torch.rand_like", "torch.normal")


@dataclass(frozen=True, kw_only=True)
class NoiseInDeviation(Rule):
    """Noise is added to the deviation of the policy's distribution.

    ## What it checks
    `Normal(mean, std + torch.randn_like(std))`: the scale of a distribution is a sum or a product with fresh random
    numbers. Read from the source.

    ## Why it matters
    The distribution draws the noise by itself. A random deviation makes log-probs of the same action differ from call
    to call, so that ratios are noise, and a negative one stops the program.

    ## Likely causes
    1. The noise of an older, deterministic policy was kept. Confirm: two calls with the same input give two deviations.

    ## What to try first
    `action = Normal(mean, std).sample()`.

    ## When it is fine
    Where the deviation is drawn once and stored with the action.

    ## References
    POL-07 of bench/bugs (CleanRL 50ea896c).
    """

    code: ClassVar[str] = "POL626"
    name: ClassVar[str] = "noise-in-deviation"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("POL005", "POL300", "POL353")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            name = library(evidence, call)
            if not name.startswith("torch.distributions.") or name.rpartition(".")[2] not in _SCALED:
                continue
            scale = argument(call, 1, "scale")
            noise = next(_noise(evidence, meant(evidence, scale)), None) if scale is not None else None
            if scale is None or noise is None:
                continue
            yield self.finding(
                f"the deviation of {evidence.quoted(call.func)} is random itself: {evidence.quoted(noise)}",
                where=evidence.at(call),
                seen=evidence.quoted(call),
                expected="the same observation gives the same distribution",
                help="leave the noise to sample()",
                confidence=0.93,
            )


def _noise(source: Source, scale: ast.expr) -> Iterator[ast.expr]:
    """Random numbers that are a term or a factor of an expression; a call around them is something else."""
    for _, term in terms(scale):
        for factor in factors(term)[1]:
            drawn = meant(source, factor)
            if drawn is not scale and library(source, drawn) in _DRAWS and isinstance(scale, ast.BinOp):
                yield drawn
            elif drawn is not scale and isinstance(drawn, ast.BinOp):
                yield from _noise(source, drawn)
