"""A function beside the reference: finds the convention that fits, or the mistake that explains what does not."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rldebug.oracles.bind import Signature, SignatureError, signature_of, styles_of, uses_reserve, words_of
from rldebug.oracles.call import Raised
from rldebug.oracles.compare import Comparison, Fit, is_number
from rldebug.oracles.drawing import counterexample
from rldebug.oracles.layout import Unreadable
from rldebug.oracles.oracle import Case, Mistake, Oracle
from rldebug.oracles.search import (
    Answer,
    Convention,
    Outcome,
    can,
    containers_for,
    conventions,
    first_lack,
    ready,
    runs,
    sizes_of,
)

SECONDS = 6.0  # for the search as a whole; a pure function takes a tenth of it
REDRAWN = 6  # times that a convention is looked at again after a case was drawn that did not fit
NARROW = ("(T,)", "(T, 1)", "one row")  # layouts without an axis for several
DRAWN = 60  # cases drawn with Hypothesis


@dataclass(frozen=True)
class Failure:
    """A case where the function is wrong: what it gave, and what is right."""

    case: Case
    outcome: Outcome
    right: Mapping[str, Any]


@dataclass(frozen=True)
class Judgement:
    """right: `fit` fits every case. wrong: `failure` is the smallest case. Neither: `reason`."""

    fit: Fit | None = None
    failure: Failure | None = None
    mistakes: tuple[Mistake, ...] = ()
    cases: int = 0
    drawn: int = 0
    notes: tuple[str, ...] = ()
    reason: str = ""
    told: tuple[str, str, str] = ("", "", "")  # what is wrong, seen and expected, where no case is needed to show it


def judge(
    function: Callable[..., Any],
    oracle: Oracle,
    given: Mapping[str, str] | None = None,
    *,
    kind: type | None = None,
    drawn: int = DRAWN,
) -> Judgement:
    """Raises SignatureError where it cannot be told which argument is what. `kind`: the class it is a method of."""
    return _Trial(function, oracle, given or {}, kind, drawn).judge()


class _Trial:
    def __init__(
        self,
        function: Callable[..., Any],
        oracle: Oracle,
        given: Mapping[str, str],
        kind: type | None,
        drawn: int,
    ) -> None:
        self.oracle, self.drawn = oracle, drawn
        self.styles = styles_of(function, oracle)
        self.signature: Signature = signature_of(function, oracle, given, kind)
        self.beside = Comparison(oracle, self.styles, words_of(function))
        self.deadline = time.process_time() + SECONDS
        self.known: list[Convention] = []  # those under which it runs, in the order tried
        self.nearest: Fit | None = None  # one that fitted all fixed cases, and not one that was drawn
        self.partial: Fit | None = None  # one that fits, and leaves out something that came back
        self.shaky: list[Convention] = []  # those under which it runs on the largest case, and not on every other
        self.odd: list[Convention] = []  # those under which it runs, and gives back what has no shape of an output

    # ── the course of it ──

    def judge(self) -> Judgement:
        raised: list[Raised] = []
        for reserve in (False, True):
            ordinary = bool(self.known)
            for convention in self._conventions(reserve):
                if self._escapes(convention):
                    continue
                outcome = self._probe(convention)
                if isinstance(outcome, Raised):
                    raised.append(outcome)
                    if outcome.took_too_long:
                        return Judgement(reason=f"it {outcome.said} on a small case: an endless loop?")
                if time.process_time() > self.deadline:
                    break
                if isinstance(outcome, Raised):
                    continue
                if not outcome.elements:
                    return self._gives_nothing(convention)
                if not self.beside.readable(convention, outcome):
                    self.odd += [] if ordinary else [convention]
                    continue
                if not self.known and self.beside.is_random(convention):
                    return self._random(convention)
                for fit in self._fitting(convention):
                    judgement = self._right(fit)
                    if judgement is not None:
                        return judgement
                if not ordinary:  # what is read in reserve may be right; what is wrong is told of the usual reading
                    (self.shaky if self._raises_somewhere(convention) else self.known).append(convention)
                if time.process_time() > self.deadline:
                    break
            if self._named(self.known, 1) is not None:
                break  # what is left are readings that a function with a mistake may fit by chance
        if self.partial is not None and not any(self._reads_all(each) for each in self.known):
            judgement = self._right(self.partial)
            if judgement is not None:
                return judgement
        self.known += [*self.shaky, *self.odd]
        if not self.known:
            return self._cannot_run(raised)
        return self._wrong()

    def _conventions(self, reserve: bool) -> Iterator[Convention]:
        """As they come; begun again whenever a bag was asked for something new."""
        lack = first_lack(self.signature, self.oracle) if not self.signature.bags else None
        if lack is not None:
            raise SignatureError(
                f"it takes nothing that could be {lack}: say which argument is with --map {lack}=NAME, or wrap it: "
                f"{self.oracle.example}"
            )
        again = True
        while again:
            again = False
            for convention in conventions(self.signature, self.oracle, containers_for(self.signature)):
                if uses_reserve(convention.binding) != reserve:
                    continue
                slots = len(self.signature.slots)
                yield convention
                if len(self.signature.slots) != slots:
                    again = True
                    break

    def _raises_somewhere(self, convention: Convention) -> bool:
        return any(
            isinstance(self.beside.answer(convention, case), Raised)
            for case in self.beside.judged(convention)
            if not case.edge
        )

    def _escapes(self, convention: Convention) -> bool:
        """A loss that runs on tensors is judged on tensors: on arrays there are no gradients to be wrong."""
        ran = any(each.container == "torch" for each in self.known)
        return bool(self.oracle.gradients) and convention.container != "torch" and ran

    def _probe(self, convention: Convention) -> Outcome:
        case = self.beside.probe_case(convention)
        if case is None:
            error = ValueError("no case is fair to a function with these arguments")
            return Raised(error, str(error))
        outcome = runs(convention, self.oracle, ready(case, self.oracle, convention))
        if isinstance(outcome, (Answer, Raised)):
            return outcome
        self.signature = self.signature.with_slot(outcome)
        return Raised(KeyError(outcome.name), f"asked for {outcome.name}")

    def _fitting(self, convention: Convention) -> Iterator[Fit]:
        """Those that fit all cases so far. Drawing may have added one since: another style may fit that too."""
        for _ in range(REDRAWN):
            fit = self._fits(convention)
            if fit is None:
                return
            yield fit

    def _right(self, fit: Fit) -> Judgement | None:
        """None where a case was drawn that it does not fit; that is among the cases from now on."""
        found, tried = self._draw(fit)
        if found is not None:
            self.beside.add(found)
            self.nearest = self.nearest or fit
            return None
        batched = self._wrong_with_several(fit)
        if batched is not None:
            return batched
        notes = [*self._edge_notes(fit), *self._changed_notes(fit), *self._column_notes(fit)]
        if self.oracle.remarks is not None:
            notes += self.oracle.remarks(fit.convention.bound)
        judged = self.beside.judged(fit.convention)
        return Judgement(fit, cases=len(judged), drawn=tried, notes=tuple(notes))

    def _wrong(self) -> Judgement:
        named = self._named(self.known, 1)
        if named is None:
            named = self._named(_one_of_each(self.known)[:8], 2)
        elif named[0].convention.layout in NARROW:  # with several environments, there may be a second one
            wide = [each for each in _one_of_each(self.known) if each.layout not in NARROW]
            named = self._named(wide, 2, among_them=named[1][0]) or named
        fit, mistakes = named if named is not None else (self.nearest or self._nearest(), ())
        if doubt := self._doubt(fit, named is not None):
            return Judgement(reason=doubt)
        judged = self.beside.judged(fit.convention)
        failure = self._first_failure(fit)
        return Judgement(fit, failure, mistakes, cases=len(judged), notes=tuple(self._changed_notes(fit)))

    def _doubt(self, fit: Fit, named: bool) -> str:
        """Why what differs may not be the function's fault; a false alarm costs more than a miss."""
        guessed = [slot.name for slot in self.signature.slots if slot.guessed]
        if guessed:
            known = f"`rldebug verify {self.oracle.name} --list` names what it may be"
            return f"no telling what {', '.join(guessed)} is: {known}; say so with --map WHAT={guessed[0]}, or wrap it"
        case = self.beside.probe_case(fit.convention)
        outcome = None if case is None else self.beside.answer(fit.convention, case)
        if named or fit.convention not in self.odd or case is None or not isinstance(outcome, Answer):
            return ""
        sizes = sizes_of(case, self.oracle)
        wanted = [tuple(sizes[axis] for axis in output.axes) for output in self.oracle.outputs]
        shapes = [each.value.shape for each in outcome.elements if not isinstance(each.value, Unreadable)]
        if any(math.prod(shape) > max(math.prod(each) for each in wanted) for shape in shapes):
            return ""  # more than there can be: rows were multiplied with one another
        gave = f"something of shape {shapes[0]}" if shapes else "nothing that could be read as numbers"
        expected = " or ".join(str(each) for each in dict.fromkeys(wanted))
        given = ", ".join(f"{axis} = {sizes[axis]}" for axis in "TBN" if axis in sizes and sizes[axis] > 1)
        return f"it gave back {gave} where {given}, expected shape {expected}; wrap it: {self.oracle.example}"

    def _wrong_with_several(self, fit: Fit) -> Judgement | None:
        """Right for one environment, and with a second one a known mistake: then that is what it has."""
        if fit.convention.layout not in NARROW:
            return None
        wide = [each for each in (*self.known, *self.shaky, *self.odd) if each.layout not in NARROW]
        named = self._named(wide, 1)
        if named is None:
            return None
        judged = self.beside.judged(named[0].convention)
        return Judgement(named[0], self._first_failure(named[0]), named[1], cases=len(judged))

    def _cannot_run(self, raised: Sequence[Raised]) -> Judgement:
        first = next((each for each in raised if not each.said.startswith("asked for ")), None)
        if first is None:
            return Judgement(reason="no case is fair to a function with these arguments")
        line = f" (line {first.line})" if first.line is not None else ""
        return Judgement(reason=f"it raises on every way it was called: {first.said}{line}")

    def _gives_nothing(self, convention: Convention) -> Judgement:
        outputs = ", ".join(each.name for each in self.oracle.outputs)
        if self.signature.bags:
            return Judgement(reason=f"it gives nothing back, and sets nothing that could be {outputs}")
        told = ("it gives nothing back: a return is missing", "None", outputs)
        return Judgement(Fit(convention, (), self.styles[0]), told=told)

    def _random(self, convention: Convention) -> Judgement:
        fit = Fit(convention, self.beside.readings(convention)[0], self.styles[0])
        told = ("it gives different answers for the same inputs", "two calls, two answers", "the same answer each time")
        return Judgement(fit, told=told)

    def _fits(self, convention: Convention) -> Fit | None:
        for reading in self.beside.readings(convention):
            for style in self.styles:
                fit = Fit(convention, reading, style)
                if self.beside.all_agree(fit, {}):
                    if not self._leaves_out(fit):
                        return fit
                    self.partial = self.partial or fit
        return None

    def _reads_all(self, convention: Convention) -> bool:
        first = Fit(convention, self.beside.readings(convention)[0], self.styles[0])
        return not self._leaves_out(first)

    def _leaves_out(self, fit: Fit) -> bool:
        """Whether an array that came back is taken for nothing, though there are outputs enough."""
        case = self.beside.probe_case(fit.convention)
        outcome = None if case is None else self.beside.answer(fit.convention, case)
        if not isinstance(outcome, Answer) or len(outcome.elements) > len(self.oracle.outputs):
            return False
        return any(
            output is None and not is_number(element) and element.name is None
            for output, element in zip(fit.reading, outcome.elements, strict=False)
        )

    # ── which mistake ──

    def _named(
        self, among: Sequence[Convention], together: int, among_them: Mistake | None = None
    ) -> tuple[Fit, tuple[Mistake, ...]] | None:
        """The likeliest convention under which so many known mistakes together explain every case."""
        for convention in among:
            for reading, style in itertools.product(self.beside.readings(convention), self.styles):
                fit = Fit(convention, reading, style)
                for mistakes in itertools.combinations(self.oracle.mistakes, together):
                    if among_them is not None and among_them not in mistakes:
                        continue
                    for ways in itertools.product(*(each.ways for each in mistakes)):
                        merged = _merged(ways)
                        if merged is not None and self.beside.all_agree(fit, merged):
                            return fit, mistakes
                    if time.process_time() > self.deadline + SECONDS * together:
                        return None
        return None

    def _nearest(self) -> Fit:
        """Where it is right the most often."""
        best, most = None, -1.0
        readable = [each for each in self.known if each not in self.odd]
        for convention in (readable or self.known)[:12]:
            judged = self.beside.judged(convention)
            for reading, style in itertools.product(self.beside.readings(convention), self.styles):
                fit = Fit(convention, reading, style)
                share = sum(self.beside.agrees(fit, case, {}) for case in judged) / max(len(judged), 1)
                if share > most:
                    best, most = fit, share
        assert best is not None
        return best

    def _first_failure(self, fit: Fit) -> Failure | None:
        raises_at_edge = [
            c
            for c in self.beside.judged(fit.convention)
            if c.edge and isinstance(self.beside.answer(fit.convention, c), Raised)
        ]
        for case in (each for each in self.beside.judged(fit.convention) if each not in raises_at_edge):
            if not self.beside.agrees(fit, case, {}):
                right = self.beside.expect(fit.convention, case, fit.style.knobs)
                return Failure(
                    ready(case, self.oracle, fit.convention), self.beside.answer(fit.convention, case), right
                )
        return None

    # ── what else there is to say ──

    def _edge_notes(self, fit: Fit) -> list[str]:
        said = []
        for case in self.beside.judged(fit.convention):
            outcome = self.beside.answer(fit.convention, case)
            if case.edge and isinstance(outcome, Raised):
                said.append(f"on {case.name}, it raises {outcome.said}")
        return said[:1]

    def _column_notes(self, fit: Fit) -> list[str]:
        """Right for columns, (N, 1), and a known mistake for rows, (N,): the caller has to know."""
        if fit.convention.layout not in ("(N, 1)", "(T, B, 1)", "(B, T, 1)"):
            return []
        rows = fit.convention.layout.replace(", 1)", ",)" if fit.convention.layout == "(N, 1)" else ")")
        plain_rows = [each for each in (*self.known, *self.shaky, *self.odd) if each.layout == rows]
        named = self._named(plain_rows[:4], 1)
        if named is None:
            return []
        return [f"right for inputs of shape {fit.convention.layout} only: given {rows}, it has {named[1][0].name}"]

    def _changed_notes(self, fit: Fit) -> list[str]:
        if self.oracle.observe is not None:  # what is observed is what it changes
            return []
        changed = {
            name
            for case in self.beside.judged(fit.convention)
            for outcome in [self.beside.answer(fit.convention, case)]
            if isinstance(outcome, Answer)
            for name in outcome.changed
        }
        return [f"it writes into its argument {name}: the caller's data is changed" for name in sorted(changed)]

    def _draw(self, fit: Fit) -> tuple[Case | None, int]:
        def wrong(case: Case) -> bool:
            self.beside.kept.append(case)
            return not self.beside.agrees(fit, case, {})

        return counterexample(self.oracle, lambda case: can(fit.convention, self.oracle, case), wrong, self.drawn)


def _one_of_each(known: Sequence[Convention]) -> list[Convention]:
    """The first of those that differ in their container or flags alone."""
    found: dict[Any, Convention] = {}
    for each in known:
        found.setdefault((tuple(id(q) for q in each.binding.values()), each.layout, tuple(each.fixed.items())), each)
    return list(found.values())


def _merged(ways: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The knobs of all; None where two turn the same one."""
    merged: dict[str, Any] = {}
    for each in ways:
        if merged.keys() & each.keys():
            return None
        merged |= each
    return merged
