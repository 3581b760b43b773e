"""rldebug.graph(loss): the backward graph as a picture, and what is wrong with it.

    rldebug.graph({"policy": policy_loss, "value": value_loss}, optimizers=[optimizer]).save("graph.svg")

To be called before `backward()`. Walks the graph, runs nothing, and keeps none of it.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.graph import Graph
from rldebug.evidence.graphs.collect import graph_of, holders
from rldebug.evidence.graphs.walk import Walk, walk
from rldebug.finding import Finding, Report, thousands
from rldebug.handover import HandoverError
from rldebug.render.graph import size_in_words, svg, write_svg

_CALL = "rldebug.graph"
_FRAMES = 4  # in which modules and their names are looked for


class Drawing:
    """A graph that was looked at. Jupyter shows it; print() gives the table of who owns what."""

    def __init__(self, graph: Graph, title: str = "") -> None:
        self.graph = graph
        self.title = title
        self._report: Report | None = None

    def save(self, file: str | Path) -> Path:
        """Write it as SVG."""
        path = Path(file)
        if path.suffix.lower() != ".svg":
            raise HandoverError(f"{_CALL}: {path.name} does not end in .svg, and a graph is drawn as SVG only")
        write_svg(self.graph, path, self.title)
        return path

    def svg(self) -> str:
        return svg(self.graph, self.title)

    def _repr_svg_(self) -> str:
        return self.svg()

    def report(self, config: Config | None = None) -> Report:
        """What the rules say about it."""
        if config is not None or self._report is None:
            report = diagnose([self.graph], config=config, command="graph", title=self.title)
            if config is not None:
                return report
            self._report = report
        return self._report

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.report().findings

    @property
    def nodes(self) -> int:
        return self.graph.nodes

    def __str__(self) -> str:
        return table(self.graph)


def graph(
    loss: Tensor | Mapping[str, Tensor],
    modules: nn.Module | Iterable[nn.Module] | Mapping[str, nn.Module | Tensor] | None = None,
    optimizers: Optimizer | Iterable[Optimizer] | Mapping[str, Optimizer] | None = None,
    *,
    title: str = "",
) -> Drawing:
    """Draw the backward graph of a loss, or of several by name.

    loss        a tensor that carries a graph, or {"policy": …, "value": …}
    modules     the networks, by name; parameters by themselves too: {"actor": actor, "log_alpha": log_alpha}.
                Those that the loss leads to are found by themselves where none are given
    optimizers  who owns which parameter is told, and judged, where they are given

    Raises HandoverError where there is no graph to draw.
    """
    losses = _losses(loss)
    caller = sys._getframe(1)
    held = _optimizers(optimizers, caller)
    walked = walk(losses)
    named = _modules(modules, caller) if modules is not None else found_modules(walked, held, caller)
    return Drawing(graph_of(walked, named, held), title)


def table(graph: Graph) -> str:
    """Who owns what: a line for each part of a module."""
    rows = [("", "weights", "loss", "optimizer", "kept")]
    saved = {each.title: each.saved for each in graph.boxes if each.kind == "module"}
    for unit in dict.fromkeys(each.unit for each in graph.parameters):
        own = [each for each in graph.parameters if each.unit == unit]
        losses = dict.fromkeys(loss for each in own for loss in each.losses)
        owners = dict.fromkeys(name for each in own for name in each.optimizers)
        frozen = not any(each.trainable for each in own)
        rows.append(
            (
                unit,
                thousands(sum(each.numel for each in own)),
                ", ".join(losses) or ("frozen" if frozen else "none"),
                ", ".join(owners) or ("none" if graph.optimizers else "not given"),
                size_in_words(saved.get(unit, 0)) if saved.get(unit) else "",
            )
        )
    for name in graph.optimizers:
        count = sum(each.numel for each in graph.parameters if name in each.optimizers)
        rows.append((f"optimizer {name}", thousands(count), "", "", ""))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


# ── what was handed over ────────────────────────────────────────────────────────────────────────────────────────────


def _losses(given: Any) -> dict[str, Tensor]:
    losses = dict(given) if isinstance(given, Mapping) else {"loss": given}
    if not losses:
        raise HandoverError(f"{_CALL}: no loss was given, expected a tensor or a dict of them by name")
    for name, each in losses.items():
        if not isinstance(name, str):
            raise HandoverError(f"{_CALL}: a loss is called {name!r}, expected a name")
        if not isinstance(each, Tensor):
            hint = ", and .item() has left the graph behind" if isinstance(each, float) else ""
            raise HandoverError(f"{_CALL}: {name} is a {type(each).__name__}, expected a tensor{hint}")
    if not any(each.requires_grad for each in losses.values()):
        names = " and ".join(losses)
        raise HandoverError(
            f"{_CALL}: {names} carr{'ies' if len(losses) == 1 else 'y'} no graph: made under torch.no_grad(), or from "
            "tensors that were detached, went through numpy, or do not require a gradient"
        )
    return losses


def _optimizers(given: Any, caller: FrameType) -> dict[str, Optimizer]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        found = dict(given)
    else:
        found = _labelled([given] if isinstance(given, Optimizer) else list(given), caller)
    for name, each in found.items():
        if not isinstance(each, Optimizer):
            raise HandoverError(
                f"{_CALL}: optimizer {name} is a {type(each).__name__}, expected a torch.optim.Optimizer"
            )
    return found


def _modules(given: Any, caller: FrameType) -> dict[str, nn.Module | Tensor]:
    if isinstance(given, Mapping):
        found = dict(given)
    else:
        found = _labelled([given] if isinstance(given, (nn.Module, Tensor)) else list(given), caller)
    for name, each in found.items():
        if not isinstance(each, (nn.Module, Tensor)):
            raise HandoverError(f"{_CALL}: module {name} is a {type(each).__name__}, expected a torch.nn.Module")
    if not found:
        raise HandoverError(f"{_CALL}: modules is empty; leave it out to have them found")
    return found


def _labelled(things: list[Any], caller: FrameType) -> dict[str, Any]:
    """By what the caller calls them; by their classes, where it has no name for them."""
    names = {id(value): name for name, value in reversed([*_in_sight(caller)])}
    found: dict[str, Any] = {}
    for each in things:
        name = base = names.get(id(each), type(each).__name__)
        count = 1
        while name in found:
            count += 1
            name = f"{base} {count}"
        found[name] = each
    return found


def _in_sight(caller: FrameType) -> Iterable[tuple[str, Any]]:
    """Variables of the caller and of who called it, then attributes of objects in them."""
    frame: FrameType | None = caller
    for _ in range(_FRAMES):
        if frame is None:
            return
        variables = {name: value for name, value in frame.f_locals.items() if name.isidentifier()}
        yield from variables.items()
        for name, value in variables.items():
            if not isinstance(value, (nn.Module, type)):
                inside = getattr(value, "__dict__", None)
                for part, each in inside.items() if isinstance(inside, dict) else ():
                    yield part if name == "self" else f"{name}.{part}", each
        if frame.f_globals is not frame.f_locals:
            yield from frame.f_globals.items()
        frame = frame.f_back


def found_modules(walked: Walk, held: Mapping[str, Optimizer], caller: FrameType) -> dict[str, nn.Module | Tensor]:
    """The outermost modules that hold what the losses lead to, or what the optimizers own."""
    wanted = {id(each) for each in walked.leaves.values()} | holders(held).keys()
    found: dict[str, nn.Module | Tensor] = {}

    def take(candidates: Iterable[tuple[str, Any]]) -> None:
        # By type: isinstance would ask objects that answer with a warning, or an import.
        modules = [(name, each) for name, each in candidates if issubclass(type(each), nn.Module)]
        owned = [(name, each, {id(one) for one in each.parameters()}) for name, each in modules]
        for name, each, own in sorted(owned, key=lambda one: -len(one[2])):
            if own & wanted:
                wanted.difference_update(own)
                found[name if name not in found else f"{name} 2"] = each

    take(_in_sight(caller))
    for name, value in _in_sight(caller):
        if issubclass(type(value), Tensor) and id(value) in wanted:
            found.setdefault(name, value)
            wanted.discard(id(value))
    if wanted:
        take((type(each).__name__, each) for each in gc.get_objects())
    return found
