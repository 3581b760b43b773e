"""How whole distributions move over the run: rewards, values, targets, advantages; weights, gradients, activations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rldebug.render.chart import heat
from rldebug.render.shown import Charts, Draw, Section, Shown, base, details, e

_PER_LAYER = (
    ("weight", "Weights, by tensor"),
    ("gradient", "Gradients, by tensor"),
    ("activation", "Activations, by layer"),
)


def sections(main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    charts = Charts("distributions")
    names = sorted({name for each in main.run.readings for name in each.histograms})
    layers = {kind: [each for each in names if each.startswith(f"histogram/{kind}/")] for kind, _ in _PER_LAYER}
    inner = {each for group in layers.values() for each in group}
    html = _tiles([each for each in names if each not in inner], main, charts)
    for kind, title in _PER_LAYER:
        tiles = _tiles(layers[kind], main, charts)
        if tiles:
            html += details(f"{title} ({len(layers[kind])})", tiles, f"histograms {kind}")
    if html:
        yield charts.done("Distributions over time", html)


def _tiles(names: Sequence[str], main: Shown, draw: Draw) -> str:
    tiles = []
    for name in names:
        at = [each for each in main.run.readings if name in each.histograms]
        spec = heat([each.update for each in at], [each.histograms[name] for each in at])
        if spec is not None:
            unit = e(main.known.metric(base(name)).unit)
            tiles.append(
                f'<figure class="wide"><figcaption><b>{e(name)}</b><span class="unit">{unit}</span></figcaption>'
                f"{draw(spec, name)}</figure>"
            )
    return f'<div class="tiles">{"".join(tiles)}</div>' if tiles else ""
