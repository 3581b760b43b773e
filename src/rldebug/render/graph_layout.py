"""Where the boxes of a graph go: in layers, the forward pass from top to bottom, with few crossings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

ACROSS, DOWN = 26.0, 46.0  # pixels between boxes
_LINE = 14.0  # pixels that a long arrow keeps for itself as it passes a layer
_SWEEPS = 24
_STRAIGHT = 8
_HOW = "pip install 'rldebug[graph]'"


@dataclass
class Layout:
    centres: list[tuple[float, float]]  # of boxes
    paths: list[list[tuple[float, float]]]  # of arrows: the points between its boxes that it passes
    width: float = 0.0
    height: float = 0.0


def layout(sizes: Sequence[tuple[float, float]], arrows: Sequence[tuple[int, int]]) -> Layout:
    """Centres of boxes of these sizes, and the ways of the arrows. An arrow from a box to itself has none."""
    if not sizes:
        return Layout([], [[] for _ in arrows])
    forward = _without_cycles(len(sizes), arrows)
    layers = _layers(len(sizes), forward)
    widths = [each[0] for each in sizes]
    chains: list[list[int]] = []  # the vertices that each arrow passes, its boxes among them
    edges: list[tuple[int, int]] = []
    for source, target in forward:
        chain = [source]
        for between in range(layers[source] + 1, layers[target]):
            layers.append(between)
            widths.append(_LINE)
            chain.append(len(layers) - 1)
        if source != target:
            chain.append(target)
        chains.append(chain)
        edges += pairwise(chain)
    rows = _ordered(layers, edges)
    x = _placed(rows, widths, edges, len(sizes))
    heights = [max((sizes[each][1] for each in row if each < len(sizes)), default=0.0) for row in rows]
    tops, y = [], 0.0
    for height in heights:
        tops.append(y)
        y += height + DOWN
    left = min(centre - widths[each] / 2 for each, centre in enumerate(x))
    middle = [tops[layers[each]] + heights[layers[each]] / 2 for each in range(len(layers))]
    points = [(centre - left, middle[each]) for each, centre in enumerate(x)]
    right = max(centre - left + widths[each] / 2 for each, centre in enumerate(x))
    paths = []
    for (source, _), (first, _), chain in zip(forward, arrows, chains, strict=True):
        passed = [points[each] for each in chain[1:-1]]
        paths.append(passed if source == first else passed[::-1])
    return Layout(points[: len(sizes)], paths, right, y - DOWN)


def _without_cycles(count: int, arrows: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same arrows, those that lead back turned round."""
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target in arrows:
        if source != target:
            after[source].append(target)
    state = [0] * count  # 1: on the way, 2: done
    back: set[tuple[int, int]] = set()
    starts = sorted(range(count), key=lambda each: any(target == each for _, target in arrows))
    for start in starts:
        way = [(start, iter(after[start]))] if not state[start] else []
        state[start] = state[start] or 1
        while way:
            here, rest = way[-1]
            following = next(rest, None)
            if following is None:
                state[here] = 2
                way.pop()
            elif state[following] == 1:
                back.add((here, following))
            elif not state[following]:
                state[following] = 1
                way.append((following, iter(after[following])))
    return [(target, source) if (source, target) in back else (source, target) for source, target in arrows]


def _layers(count: int, arrows: Sequence[tuple[int, int]]) -> list[int]:
    """As high as what it takes from allows; what takes from nothing, as low as what takes from it."""
    layers = [0] * count
    for _ in range(count):
        moved = False
        for source, target in arrows:
            if source != target and layers[target] <= layers[source]:
                layers[target], moved = layers[source] + 1, True
        if not moved:
            break
    fed = {target for source, target in arrows if source != target}
    for each in range(count):
        following = [layers[target] for source, target in arrows if source == each != target]
        if each not in fed and following:
            layers[each] = min(following) - 1
    return layers


def _ordered(layers: list[int], edges: list[tuple[int, int]]) -> list[list[int]]:
    """The vertices of each layer from left to right, by igraph's Sugiyama layout."""
    drawn = _igraph().Graph(n=len(layers), edges=edges, directed=True)
    found = drawn.layout_sugiyama(layers=layers, maxiter=200)
    rows: list[list[int]] = [[] for _ in range(max(layers) + 1)]
    for each in sorted(range(len(layers)), key=lambda each: (found[each][0], each)):
        rows[layers[each]].append(each)
    return rows


def _igraph() -> Any:
    try:
        import igraph
    except ImportError:
        raise ImportError(f"a graph is laid out by igraph, which is not installed: {_HOW}") from None
    return igraph


def _placed(rows: list[list[int]], widths: list[float], edges: list[tuple[int, int]], boxes: int) -> list[float]:
    """Every vertex near the middle of those it is joined to, in the order of its row, none over another."""
    near: list[list[int]] = [[] for _ in widths]
    for source, target in edges:
        pull = _STRAIGHT if source >= boxes and target >= boxes else 1  # long arrows run straight down
        near[source] += [target] * pull
        near[target] += [source] * pull
    x = [0.0] * len(widths)
    for row in rows:
        at = 0.0
        for each in row:
            x[each] = at + widths[each] / 2
            at += widths[each] + ACROSS
        for each in row:
            x[each] -= (at - ACROSS) / 2
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = [
                sum(x[other] for other in near[each]) / len(near[each]) if near[each] else x[each] for each in row
            ]
            for each, place in zip(row, _apart([widths[each] for each in row], wanted), strict=True):
                x[each] = place
    return x


def _apart(widths: list[float], wanted: list[float]) -> list[float]:
    """The places nearest to those wanted at which nothing overlaps: neighbours that collide move as one."""
    offset, offsets = 0.0, []
    for i, width in enumerate(widths):
        offset += width / 2 + (widths[i - 1] / 2 + ACROSS if i else 0.0)
        offsets.append(offset)
    blocks: list[tuple[float, int]] = []  # where a block would start, and how many are in it
    for want, own in zip(wanted, offsets, strict=True):
        start, count = want - own, 1
        while blocks and blocks[-1][0] > start:
            before, many = blocks.pop()
            start, count = (before * many + start * count) / (many + count), many + count
        blocks.append((start, count))
    starts = [start for start, count in blocks for _ in range(count)]
    return [start + own for start, own in zip(starts, offsets, strict=True)]
