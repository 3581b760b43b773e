"""The makers of a vector environment all see the last value of the loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Edit, Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import reaching
from rldebug.syntax.flow import put_in
from rldebug.syntax.made_envs import length, vector_envs
from rldebug.syntax.names import argument
from rldebug.syntax.places import Function, above, loops_of


@dataclass(frozen=True, kw_only=True)
class MakersSeeTheLastNumber(Rule):
    """The makers of a vector environment all see the last value of the loop.

    ## What it checks
    A lambda or an inner function is made in a loop, uses the variable of the loop, and is called only later, by the
    vector environment it is given to. Read from the source.

    ## Why it matters
    A function looks its variables up when it is called, and by then the loop is over: every lane gets the same
    number. With seeds, all lanes play the same episodes, and n environments are worth one.

    ## Likely causes
    1. `lambda: make(i)` in a loop over i. Confirm: print the seed in the maker.

    ## What to try first
    `lambda i=i: make(i)`, or a function that returns the maker: `make(i)`.

    ## When it is fine
    Nothing that is known of.

    ## References
    Python FAQ, *Why do lambdas defined in a loop with different values all return the same result?*
    """

    code: ClassVar[str] = "SEE602"
    name: ClassVar[str] = "makers-see-the-last-number"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("SEE001", "SEE302")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call, given in vector_envs(evidence):
            handed = argument(call, 0, "env_fns")
            put = list(put_in(evidence, handed)) if handed is not None else []
            for maker in _makers(evidence, [given, *put]):
                late = sorted(_late(evidence, maker))
                if late and length(evidence, given) != 1:
                    names = ", ".join(late)
                    yield self.finding(
                        f"every lane is made with the last {names} of the loop: makers look it up when called",
                        where=evidence.at(maker),
                        seen=evidence.quoted(maker.body if isinstance(maker, ast.Lambda) else maker),
                        expected=f"the maker keeps {names} as it was in its round",
                        help=f"{_head(maker, late)}: …",
                        confidence=0.95,
                        edits=_kept(evidence, maker, late),
                    )


def _makers(source: Source, given: list[ast.expr]) -> Iterator[ast.Lambda | Function]:
    for each in given:
        inner = each.elt if isinstance(each, ast.ListComp | ast.GeneratorExp) else each
        if isinstance(inner, ast.Lambda):
            yield inner
        for binding in reaching(source, inner) if isinstance(inner, ast.Name) else ():
            if isinstance(binding.node, ast.FunctionDef):
                yield binding.node


def _late(source: Source, maker: ast.Lambda | Function) -> set[str]:
    """The variables of loops around a maker that its body reads."""
    around: list[ast.expr] = [each.target for each in loops_of(source, maker) if not isinstance(each, ast.While)]
    for each in above(source, maker):
        if isinstance(each, Function | ast.Lambda):
            break
        if isinstance(each, ast.ListComp | ast.GeneratorExp):
            around += [one.target for one in each.generators]
    loops = {node.id for each in around for node in ast.walk(each) if isinstance(node, ast.Name)}
    arguments = maker.args
    own = {each.arg for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    body = [maker.body] if isinstance(maker, ast.Lambda) else maker.body
    names = [node for each in body for node in ast.walk(each) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return ({node.id for node in names if isinstance(node.ctx, ast.Load)} & loops) - own - bound


def _head(maker: ast.Lambda | Function, late: list[str]) -> str:
    kept = ", ".join(f"{each}={each}" for each in late)
    return f"lambda {kept}" if isinstance(maker, ast.Lambda) else f"def {maker.name}({kept})"


def _kept(source: Source, maker: ast.Lambda | Function, late: list[str]) -> tuple[Edit, ...]:
    text = ast.get_source_segment(source.text, maker) or ""
    if not isinstance(maker, ast.Lambda) or not text.startswith("lambda:"):
        return ()
    return (source.replaced(maker, f"{_head(maker, late)}{text[len('lambda') :]}"),)
