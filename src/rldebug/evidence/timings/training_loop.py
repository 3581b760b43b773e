"""The calls of a training loop that are known for certain, by the lines of the user's that lead to them: steps,
networks that act and learn, backward, updates. Where other lines stand between them says what they are for."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cached_property

from rldebug.evidence.source import Source
from rldebug.evidence.timing import Slice, Spot
from rldebug.evidence.timings.chosen import Chosen
from rldebug.evidence.timings.in_environment import name_of, part_inside
from rldebug.evidence.timings.libraries import told
from rldebug.evidence.timings.nodes import called_at, statement_at
from rldebug.evidence.timings.purpose import functions_of, purpose
from rldebug.evidence.timings.stored import Stored
from rldebug.evidence.timings.ways import Line, Way, apart, leads_to, line_of, way_to_call, ways
from rldebug.syntax.places import Function, loops_of, scope_of


class TrainingLoop:
    def __init__(self, slices: Sequence[Slice], sources: Mapping[str, Source]) -> None:
        self.sources = sources
        mine = [each for each in slices if each.thread == 0]
        self.steps = ways(each for each in mine if each.inside)
        self.stepping = ways(each for each in mine if each.inside and part_inside(each) != "reset")
        self.backwards = ways(each for each in mine if _has(each, "backward"))
        self.updates = ways(each for each in mine if _steps_optimizer(each))
        self.acting = ways(each for each in mine if _network(each) and each.after in ("step", "reset"))
        learning = [each for each in mine if _network(each) and each.after == "backward"]
        with_grad = ways(each for each in learning if each.grad)
        # Without gradients, for each update: targets. Once a rollout: the value of what comes next.
        without = [way for way in ways(learning) if way not in with_grad]
        self.learning = with_grad + [way for way in without if with_grad and self.per_update(way)]
        # Where a library runs the loop, one line of the user's leads to everything: it says nothing.
        self.acting, self.learning = (
            [way for way in found if not any(each[: len(way)] == way for each in (*self.steps, *self.backwards))]
            for found in (self.acting, self.learning)
        )
        self.hubs = {line[:2] for way in (*self.backwards, *self.steps, *self.updates) for line in way}
        self._worlds = {
            (spot.file, spot.function.rpartition(".")[0])
            for each in mine
            if each.inside
            for spot in each.stack
            if spot.kind == "user" and name_of(spot) == "step" and "." in spot.function
        }

    # ── what is under way ───────────────────────────────────────────────────────────────────────────────────────────

    def mine(self, each: Slice) -> Way:
        """The user's own lines that lead there."""
        return [self._body(spot) for spot in each.stack if spot.kind == "user"]

    def _body(self, spot: Spot) -> Line:
        """Its line; of `with torch.no_grad():` that of what it is there for."""
        source = self.sources.get(spot.file)
        statement = statement_at(source, spot) if source is not None else None
        while isinstance(statement, ast.With) and statement.lineno == spot.line:
            spot, statement = Spot(spot.file, spot.function, statement.body[0].lineno), statement.body[0]
        return line_of(spot)

    def calls(self, each: Slice) -> set[str]:
        """What the lines that lead there call."""
        spots = [(self.sources.get(spot.file), spot) for spot in each.stack if spot.kind == "user"]
        return {called_at(source, spot) for source, spot in spots if source is not None}

    def below(self, each: Slice) -> list[tuple[Source, Function]]:
        """The functions under way that are about one thing: they call no environment, no backward and no optimizer."""
        found = []
        for spot in each.stack:
            source = self.sources.get(spot.file) if spot.kind == "user" else None
            if source is not None and (spot.file, _without_comprehensions(spot.function)) not in self.hubs:
                statement = statement_at(source, spot)
                scope = source.tree if statement is None else scope_of(source, statement)
                if not isinstance(scope, ast.Module):
                    found.append((source, scope))
        return found

    def about_to_call(self, each: Slice) -> list[tuple[Source, Function]]:
        """The functions of the user's that go by the name of what the innermost line calls, about one thing as well."""
        name = each.called.rpartition(".")[2]
        found = [(source, function) for source in self.sources.values() for function in functions_of(source)]
        return [
            (source, function)
            for source, function in found
            if function.name == name and not self.holds(source.file, function)
        ]

    def purpose(self, each: Slice) -> str:
        """Of the outermost function that is about one thing."""
        return next((found for source, scope in self.below(each) if (found := purpose(source, scope))), "")

    def draws_picture(self, each: Slice) -> bool:
        """`render` of a class whose `step` is that of an environment, though it derives from none."""
        return any(
            name_of(spot) == "render" and (spot.file, spot.function.rpartition(".")[0]) in self._worlds
            for spot in each.stack
        )

    @cached_property
    def stored(self) -> Stored:
        return Stored(self.steps, self.acting, (*self.backwards, *self.updates, *self.learning), self.sources)

    @cached_property
    def chosen(self) -> Chosen:
        return Chosen(self.stepping, self.sources)

    # ── where it stands ─────────────────────────────────────────────────────────────────────────────────────────────

    def around(self, line: Line) -> list[ast.For | ast.While | ast.AsyncFor]:
        """The loops of its function that a line stands in, the innermost first."""
        source = self.sources.get(line[0])
        statement = statement_at(source, Spot(*line)) if source is not None else None
        return loops_of(source, statement) if source is not None and statement is not None else []

    def holds(self, file: str, around: ast.AST) -> bool:
        """Whether a loop or a function steps an environment, calls a network to learn, or backward."""
        first = getattr(around, "lineno", 0)
        last = getattr(around, "end_lineno", None) or 1 << 30
        known = (*self.backwards, *self.steps, *self.learning)
        return any(each == file and first <= line <= last for way in known for each, _, line in way)

    def learns(self, each: Slice) -> str:
        """A network is called, and no step follows."""
        way = list(way_to_call(each))
        once = not each.grad and each.before in ("step", "reset") and way and not leads_to(way, self.learning)
        return "advantages" if once else "loss"

    def shares_function(self, mine: Way, others: list[Way]) -> bool:
        """Whether it stands in a function from which such a network is called, and no environment and no backward."""
        for way in others:
            for place, (own, theirs) in enumerate(zip(mine, way, strict=False)):
                if place and own[:2] == theirs[:2] and own[:2] not in self.hubs:
                    return True
                if own != theirs:
                    break
        return False

    def per_step(self, mine: Way) -> bool:
        """Whether it stands in a loop that steps an environment, and updates nothing: then it is done for each step."""
        for way in self.stepping:
            place = apart(mine, way)
            around = [] if place is None else self.around(way[place])
            if place is not None and around and around[0] in self.around(mine[place]):
                first, last = around[0].lineno, around[0].end_lineno or around[0].lineno
                lines = {line for each in self.backwards for file, _, line in each if file == mine[place][0]}
                if not any(first <= line <= last for line in lines):
                    return True
        return False

    def per_update(self, mine: Way) -> bool:
        """Whether no loop lies between it and backward that it is not in itself: then it is done for each update."""
        for way in self.backwards:
            if mine == way[: len(mine)]:  # worked out on the line that goes on to backward
                if not any(self.around(line) for line in way[len(mine) :]):
                    return True
                continue
            place = apart(mine, way)
            if place is None:
                continue
            around = [self.around(line) for line in way[place:]]
            if not any(around[1:]) and (not around[0] or around[0][0] in self.around(mine[place])):
                return True
        return False


def _has(each: Slice, sign: str) -> bool:
    return any(told(spot) == sign for spot in each.stack)


def _network(each: Slice) -> bool:
    return not each.inside and not _has(each, "backward") and _has(each, "module")


def _steps_optimizer(each: Slice) -> bool:
    return any(told(spot) == "optimizer" and name_of(spot) == "step" for spot in each.stack)


def _without_comprehensions(function: str) -> str:
    """Up to Python 3.11 they have frames of their own: `main.<locals>.<listcomp>` is about what `main` is about."""
    while function.endswith(("<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>")):
        function = function.rpartition(".<locals>.")[0]
    return function
