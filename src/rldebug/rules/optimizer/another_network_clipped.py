"""Gradients of one network are clipped, and another one is stepped."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import meant
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import argument, dotted, receiver
from rldebug.syntax.training import Event, blocks, events, networks_in, optimizers


@dataclass(frozen=True, kw_only=True)
class AnotherNetworkClipped(Rule):
    """Gradients of one network are clipped, and another one is stepped.

    ## What it checks
    In one block of statements: `backward()`, `clip_grad_norm_(a.parameters(), …)`, and `step()` of an optimizer that
    was made for `b.parameters()`, where `a` and `b` are different networks. Read from the source.

    ## Why it matters
    The clipping works on gradients that nobody uses, or that are cleared before they are used; the step is taken with
    the whole gradient.

    ## Likely causes
    1. The lines were copied from the update of the other network. Confirm: compare the names.

    ## What to try first
    Clip the parameters that the optimizer holds.

    ## When it is fine
    Nothing that is known of.

    ## References
    OPT-07 of bench/bugs.
    """

    code: ClassVar[str] = "OPT648"
    name: ClassVar[str] = "another-network-clipped"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("OPT301", "OPT303")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for block in blocks(evidence):
            for clip, steps in _clipped_and_stepped(events(evidence, block)):
                clipped = _made(evidence, networks_in(evidence, argument(clip.call, 0, "parameters")))
                names = [dotted(receiver(each.call) or each.call) for each in steps]
                held = [_held(evidence, name) for name in names]
                if clipped is None or not steps or None in held:
                    continue
                stepped = {name: node for each in held for name, node in (each or {}).items()}
                if set(clipped) & set(stepped) or set(clipped.values()) & set(stepped.values()):
                    continue
                if any(_nested(one, other) for one in clipped for other in stepped):
                    continue
                yield self.finding(
                    f"{' and '.join(clipped)} is clipped, and {' and '.join(stepped)} is stepped",
                    where=evidence.at(clip.call),
                    seen=f"{evidence.quoted(clip.call)} before {names[0]}.step(), which holds {' and '.join(stepped)}",
                    expected="the same parameters in both",
                    help=f"clip the parameters of {' and '.join(stepped)}",
                    confidence=0.93,
                )


def _clipped_and_stepped(found: list[Event]) -> Iterator[tuple[Event, list[Event]]]:
    """Clippings after a backward(), each with the steps before gradients are made or cleared again."""
    for place, each in enumerate(found):
        if each.what != "clip" or not any(one.what == "backward" for one in found[:place]):
            continue
        rest = found[place + 1 :]
        end = next((i for i, one in enumerate(rest) if one.what in ("backward", "clear")), len(rest))
        yield each, [one for one in rest[:end] if one.what == "step"]


def _held(source: Source, name: str) -> dict[str, ast.expr] | None:
    """The networks of the optimizer that is called so, where there is only one."""
    known = [each for each in optimizers(source) if each.name == name]
    return _made(source, networks_in(source, known[0].parameters)) if len(known) == 1 else None


def _made(source: Source, networks: list[ast.expr] | None) -> dict[str, ast.expr] | None:
    """Name -> the call that made it; None where it cannot be told of all."""
    found = {dotted(each): meant(source, each) for each in networks or ()}
    told = all(isinstance(each, ast.Call) and kind(source, each) == "module" for each in found.values())
    return found if found and told else None


def _nested(one: str, other: str) -> bool:
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")
