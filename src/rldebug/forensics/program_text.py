"""The text of a program beside what it was seen to do: its losses, and what they are computed from."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rldebug.evidence.script import Script
from rldebug.evidence.source import Source
from rldebug.finding import Finding, Where
from rldebug.syntax.across import Program, program_of
from rldebug.syntax.names import library, method, receiver
from rldebug.syntax.places import Function, statement_of
from rldebug.syntax.quantities import Walk, stepped, walk

SPAN = 12  # lines of statements that belong together
FUNCTION = 30  # lines of a function that is shown as a whole


@dataclass(frozen=True, eq=False)
class Text:
    """A program, its text and what it was seen to do."""

    script: Script
    sources: Sequence[Source]

    @cached_property
    def program(self) -> Program:
        return program_of(self.sources)

    @cached_property
    def losses(self) -> list[tuple[ast.Call, ast.expr]]:
        """What is minimised, with the calls of backward()."""
        found = []
        for source in self.sources:
            for call in (each for each in ast.walk(source.tree) if isinstance(each, ast.Call)):
                if method(call) == "backward" and not library(source, call):
                    given = call.args[0] if call.args else receiver(call)
                    found += [(call, given)] if given is not None else []
                elif library(source, call) == "torch.autograd.grad" and call.args:
                    found.append((call, call.args[0]))
        return found

    @cached_property
    def learned(self) -> Walk:
        return walk(self.program, [loss for _, loss in self.losses])

    @cached_property
    def acting(self) -> Walk:
        """What is done in environments that the losses learn from."""
        mine = stepped(self.learned)
        calls = [each for each in self.program.steps if not mine or self.learned.statement(each) in mine]
        given = [each.args[0] for each in calls if isinstance(each, ast.Call) and each.args]
        return walk(self.program, given, networks=False)

    def statement(self, where: Where) -> ast.stmt | None:
        """The smallest statement at a place."""
        source = self.source(where.file)
        if source is None or where.line is None:
            return None
        around = (
            each
            for each in ast.walk(source.tree)
            if isinstance(each, ast.stmt) and each.lineno <= where.line <= (each.end_lineno or each.lineno)
        )
        return max(around, key=lambda each: (each.lineno, each.col_offset), default=None)

    def source(self, file: str | None) -> Source | None:
        if file is None:
            return None
        whole = os.path.abspath(file)
        ends = [each for each in self.sources if whole == each.file or whole.endswith(os.sep + each.file)]
        if not ends:  # recorded elsewhere: as the program saw it from its folder
            ends = [each for each in self.sources if each.file.endswith(os.sep + file)]
        return ends[0] if len(ends) == 1 else None

    def near(self, finding: Finding) -> Walk:
        """What the statement is computed from that a finding points at; of all losses, where it has none."""
        statement = self.statement(finding.where)
        if statement is None or hasattr(statement, "body"):
            return self.learned
        return walk(self.program, [each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.expr)])


def begin(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 1))


def end(node: ast.AST) -> int:
    """The last line; of a compound statement that of its head."""
    body = getattr(node, "body", None)
    if isinstance(body, list) and body and not isinstance(node, Function | ast.ClassDef):
        return max(begin(node), begin(body[0]) - 1)
    return int(getattr(node, "end_lineno", None) or begin(node))


def statements(walked: Walk, nodes: Iterable[ast.AST]) -> list[ast.stmt]:
    return list(dict.fromkeys(statement_of(walked.program.home[each], each) for each in nodes))


def last(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def last_name(node: ast.expr | None) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
