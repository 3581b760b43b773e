"""Graphs of losses: how large they are, now and then; and those of an early update, to be drawn."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from rldebug.capture import backward
from rldebug.capture.place import users_line
from rldebug.capture.registry import label_of
from rldebug.capture.stand_in import calling_line, out_of_reach
from rldebug.evidence.graph import Graph, Size, write_graph
from rldebug.evidence.graphs.collect import graph_of, holders
from rldebug.evidence.graphs.walk import Walk, joined, size_of, walk

GROUP = "graphs"
_COUNTED = 20_000  # nodes, at most
_WINDOW = 4  # backward passes, from each that is a power of two on, whose graphs are counted: one of each line
_FIRST = 8  # the second such window
_SIZES = 64  # of one line
_WALKED = 100_000  # nodes of a graph that is drawn
_LOOSE = 8  # parameters of no module that are named
_LOSSES = 6  # in one picture
_ROUNDS = 4  # times that the first loss comes round again before the picture is taken: others come every other time

Line = tuple[str, int]


def install(session: Any) -> None:
    if backward.watch is None:
        return  # --without backward
    here = Graphs(session)
    backward.watch.graphs = here
    session.on_finish.append(here.finish)


class Graphs:
    def __init__(self, session: Any) -> None:
        self.session = session
        self.sizes: dict[Line, list[Size]] = {}
        self._newest: dict[Line, int] = {}  # when the newest node was made, of the graph that was counted last
        self._window = 1  # the backward pass that it begins with
        self._in_window: set[Line] = set()
        self._drawing = True
        self._walks: dict[tuple[str, Line], tuple[str, Line | None, Walk]] = {}
        self._loose: dict[str, Tensor] = {}  # parameters of no module, by the program's names for them
        self._first: tuple[str, Line] | None = None
        self._rounds = 0
        self._update = 1
        self._graph: Graph | None = None

    def wants(self, backwards: int) -> bool:
        return self._drawing or backwards >= self._window

    def saw(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given = args[0] if args else kwargs.get("tensors" if name == "backward" else "outputs")
        roots = [each for each in backward._tensors(given) if each.grad_fn is not None]
        if not roots or out_of_reach():
            return
        began = time.thread_time()
        site = calling_line()
        if name == "backward":
            self._count(site, roots[0])
        if self._drawing:
            self._keep((name, site), roots[0])
        self.session.took(time.thread_time() - began)

    # ── sizes ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _count(self, site: Line, loss: Tensor) -> None:
        passes = backward.counts().get("backwards", 0)
        if passes < self._window:
            return
        if passes >= self._window + _WINDOW:
            while self._window + _WINDOW <= passes:
                self._window = max(2 * self._window, _FIRST)
            self._in_window.clear()
        known = self.sizes.setdefault(site, [])
        if site in self._in_window or len(known) >= _SIZES or passes < self._window:
            return
        self._in_window.add(site)
        nodes, old, newest, bounded = size_of(loss, self._newest.get(site, -1), _COUNTED)
        self._newest[site] = newest
        known.append(Size(self.session.updates + 1, nodes, old, users_line(2), bounded))

    # ── the picture ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _keep(self, key: tuple[str, Line], loss: Tensor) -> None:
        if self._first is None:
            self._first, self._update = key, self.session.updates + 1
        if key == self._first:
            self._rounds += 1
        if key not in self._walks and len(self._walks) < _LOSSES:
            name = label_of(loss) or f"{Path(key[1][0]).name}:{key[1][1]}"
            walked = walk({name: loss}, _WALKED)
            self._walks[key] = (name, users_line(2), walked)
            for leaf in walked.leaves.values():
                if len(self._loose) < _LOOSE and not self.session.registry.owners((id(leaf),)):
                    self._loose.setdefault(label_of(leaf) or "", leaf)
        if self._rounds > _ROUNDS and self._first[0] == "backward":
            self._take()

    def _take(self) -> None:
        """Losses that are run backward; where there are none, gradients that are asked for, as by a trust region."""
        self._drawing = False
        kept = {key: each for key, each in self._walks.items() if key[0] == "backward"} or self._walks
        walks, lines = [], {}
        for (_, site), (name, line, each) in kept.items():
            if name in lines:
                name = f"{name}, line {site[1]}"
                (root,) = each.roots.values()
                each.roots = {name: root}
            lines[name] = line
            walks.append(each)
        self._walks = {}
        self._loose.pop("", None)
        if walks:
            whole = joined(walks)
            optimizers = {
                name: found for name, each in self.session.registry.optimizers.items() if (found := each()) is not None
            }
            modules = self._modules(whole, optimizers)
            self._graph = graph_of(whole, modules, optimizers, lines)
            self._write()  # to be looked at while the program runs
        self._loose = {}

    def _modules(self, walked: Walk, optimizers: Any) -> dict[str, nn.Module | Tensor]:
        """The outermost that the losses lead to, or that are held by an optimizer."""
        wanted = {id(each) for each in walked.leaves.values()} | holders(optimizers).keys()
        owned = [(name, each, {id(one) for one in each.parameters()}) for name, each in self.session.registry.living()]
        found: dict[str, nn.Module | Tensor] = {}
        for name, each, own in sorted(owned, key=lambda one: -len(one[2])):
            if own & wanted:
                wanted -= own
                found[name] = each
        return {**found, **{name: each for name, each in self._loose.items() if id(each) in wanted}}

    def finish(self) -> None:
        if self._drawing:
            self._take()
        self._write()

    def _write(self) -> None:
        sizes = tuple(size for each in self.sizes.values() for size in each)
        if self._graph is not None or sizes:
            graph = dataclasses.replace(self._graph, update=self._update) if self._graph is not None else Graph()
            asked = bool(self.session.options.graph)
            write_graph(dataclasses.replace(graph, sizes=sizes, asked=asked), self.session.folder)
