"""Every reading over time, by component; what findings speak of comes first, losses come last of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rldebug.render.sections.tiles import blamed, still, tile
from rldebug.render.shown import Charts, Section, Shown, base, family

GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("environment", "Environment and episodes", ("episode", "env", "reward", "rollout", "obs", "action", "replay")),
    ("policy", "Policy and exploration", ("policy", "exploration")),
    ("values", "Values and targets", ("value", "target", "target_net")),
    ("advantages", "Advantages", ("advantage",)),
    ("batches", "Batches and staleness", ("batch",)),
    ("gradients", "Gradients, steps and weights", ("grad", "step", "weight", "optimizer", "noise")),
    ("network", "Network", ("layers",)),
    ("pace", "Pace and machine", ("pace", "host", "gpu")),
    ("yours", "Your own metrics", ()),
    ("losses", "Losses", ("loss",)),
)
"""Families of metrics in the order of the page. Losses come last: they say little in RL, and are looked at first."""

_MOMENTS = ("mean", "std", "min", "max")


def sections(main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    for key, title, families in GROUPS[:-1]:
        yield from _group(key, title, families, main, others)


def losses(main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    yield from _group(*GROUPS[-1], main, others)


def _group(key: str, title: str, families: Sequence[str], main: Shown, others: Sequence[Shown]) -> Iterator[Section]:
    elsewhere = {each for _, _, group in GROUPS for each in group}
    chosen = {
        name: series
        for name, series in main.run.series.items()
        if (family(name) in families if families else family(name) not in elsewhere)
        and not name.endswith("fingerprint")  # equal or not is all there is to them
    }
    charts, blame = Charts(key), blamed(main)
    tiles, flat = [], []
    order = {each: place for place, each in enumerate(families)}
    for name in sorted(chosen, key=lambda each: (base(each) not in blame, order.get(family(each), 0), each)):
        moment = next((each for each in _MOMENTS if base(name).endswith((f"/{each}", f"_{each}"))), "")
        stem, optimizer = base(name).removesuffix(moment), name[len(base(name)) :]
        whole = [f"{stem}{each}{optimizer}" for each in _MOMENTS]
        if moment and all(each in chosen for each in whole):
            if moment == "mean":  # mean, std, min and max are one picture
                tiles.append(tile(name, main, charts, others, spread=whole[2:]))
        elif (words := still(chosen[name])) is not None and base(name) not in blame and not _moves(name, others):
            flat.append(words)
        else:
            tiles.append(tile(name, main, charts, others))
    if not tiles and not flat:
        return
    drawn = f'<div class="tiles">{"".join(tiles)}</div>' if tiles else ""
    rest = f'<p class="still">{" · ".join(flat)}</p>' if flat else ""
    yield charts.done(title, drawn + rest)


def _moves(name: str, others: Sequence[Shown]) -> bool:
    return any(name in each.run.series and still(each.run[name]) is None for each in others)
