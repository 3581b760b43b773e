import builtins
import itertools
import re
import xml.etree.ElementTree as ET

import pytest
import torch

from rldebug.render.graph import size_in_words, svg
from rldebug.render.graph_layout import ACROSS, layout
from tests.rules.graphs import adam, drawn, mlp

SVG = "{http://www.w3.org/2000/svg}"
OBS = torch.randn(8, 4)


def actor_critic():
    torch.manual_seed(0)
    actor, critic, forgotten = mlp(4, 2), mlp(4, 1), mlp(4, 3)
    losses = {"policy": actor(OBS).log_softmax(-1)[:, 0].mean(), "value": critic(OBS).pow(2).mean()}
    return drawn(losses, {"adam": adam(actor, critic)}, actor=actor, critic=critic, forgotten=forgotten)


def texts(picture):
    return [each.text for each in ET.fromstring(picture).iter(f"{SVG}text")]


def test_the_picture_names_modules_losses_and_what_is_forgotten():
    shown = texts(svg(actor_critic()))
    assert {"actor", "critic", "policy", "value", "forgotten", "no loss leads here", "8×2"} <= set(shown)
    assert any("leads to" in each and "operations" in each for each in shown)
    assert any(each.endswith("adam") for each in shown)


def test_what_no_loss_leads_to_is_red():
    root = ET.fromstring(svg(actor_critic()))
    groups = [each for each in root.iter(f"{SVG}g") if each.find(f"{SVG}title") is not None]
    marked = [each.find(f"{SVG}title").text for each in groups if each.find(f"{SVG}rect").get("class") == "lost"]
    assert marked == ["forgotten: no loss leads here"]


def test_parts_of_two_losses_bear_both_colours():
    net = mlp(4, 2)
    out = net(OBS)
    picture = svg(drawn({"one": out.sum(), "two": out.pow(2).sum()}, net=net))
    net_box = next(each for each in picture.split("<g>") if "net: one, two" in each)
    assert len(set(re.findall(r'fill="(#\w+)"', net_box))) == 2
    assert "of several losses" in texts(picture)


def test_repeated_steps_are_counted():
    policy = mlp(4, 2)
    logp = torch.stack([policy(each).log_softmax(-1)[0] for each in torch.randn(128, 4)])
    shown = texts(svg(drawn(logp.sum(), policy=policy)))
    assert "×128" in shown


def test_the_same_graph_gives_the_same_picture():
    assert svg(actor_critic()) == svg(actor_critic())


def test_nothing_lies_outside_and_names_are_escaped():
    picture = svg(drawn({"a < b & c": mlp(4, 2)(OBS).sum()}, net=mlp(4, 2)))
    root = ET.fromstring(picture)
    width, height = float(root.get("width")), float(root.get("height"))
    for each in root.iter(f"{SVG}rect"):
        assert float(each.get("x", 0)) + float(each.get("width")) <= width
        assert float(each.get("y", 0)) + float(each.get("height")) <= height
    assert "a < b & c" in texts(picture)


def test_no_script_and_nothing_from_elsewhere():
    picture = svg(actor_critic())
    assert "<script" not in picture
    assert set(re.findall(r"https?://[^\"']+", picture)) == {"http://www.w3.org/2000/svg"}


def test_without_igraph_it_says_what_to_install(monkeypatch):
    original = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "igraph":
            raise ImportError(name)
        return original(name, *args, **kwargs)

    graph = actor_critic()
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"rldebug\[graph\]"):
        svg(graph)


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (20 << 20, "20 MiB"), (3 << 40, "3072 GiB")]
)
def test_sizes_are_told_in_words(count, words):
    assert size_in_words(count) == words


# ── where the boxes go ──────────────────────────────────────────────────────────────────────────────────────────────


def overlapping(sizes, centres):
    return [
        (i, j)
        for (i, (a, at)), (j, (b, to)) in itertools.combinations(enumerate(zip(sizes, centres, strict=True)), 2)
        if abs(at[0] - to[0]) < (a[0] + b[0]) / 2 and abs(at[1] - to[1]) < (a[1] + b[1]) / 2
    ]


def test_boxes_do_not_overlap_and_arrows_point_down():
    sizes = [(60.0 + 20 * (i % 4), 30.0) for i in range(12)]
    arrows = [(i, j) for i in range(12) for j in range(i + 1, 12) if (i * 7 + j) % 5 == 0]
    laid = layout(sizes, arrows)
    assert overlapping(sizes, laid.centres) == []
    assert all(laid.centres[source][1] < laid.centres[target][1] for source, target in arrows)
    assert min(x - w / 2 for (x, _), (w, _) in zip(laid.centres, sizes, strict=True)) >= -1e-6
    assert max(x + w / 2 for (x, _), (w, _) in zip(laid.centres, sizes, strict=True)) <= laid.width + 1e-6


def test_boxes_of_a_layer_keep_their_distance():
    laid = layout([(50.0, 20.0)] * 5, [(0, 1), (0, 2), (0, 3), (0, 4)])
    row = sorted(x for x, y in laid.centres[1:])
    assert all(after - before >= 50 + ACROSS - 1e-6 for before, after in itertools.pairwise(row))


def test_a_long_arrow_goes_round_what_lies_between():
    laid = layout([(50.0, 20.0)] * 3, [(0, 1), (1, 2), (0, 2)])
    ((x, _),) = laid.paths[2]
    assert abs(x - laid.centres[1][0]) > 25


def test_loops_are_laid_out_too():
    laid = layout([(50.0, 20.0)] * 3, [(0, 1), (1, 2), (2, 0), (1, 1)])
    assert overlapping([(50.0, 20.0)] * 3, laid.centres) == []
    assert laid.paths[3] == []


def test_nothing_needs_no_room():
    assert layout([], []).width == 0
