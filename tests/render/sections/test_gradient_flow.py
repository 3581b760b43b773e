import dataclasses
import math

from rldebug.evidence.run import Reading, Run
from rldebug.render.sections.gradient_flow import sections

from .shown import shown


def flow(*rows):
    """One tensor over time: its gradient, its step, its weights."""
    readings = [
        Reading(i, i, float(i), {}, tables={"parameters": {"net.0": [g, 0, 0, s, w, 0, 0]}})
        for i, (g, s, w) in enumerate(rows)
    ]
    return dataclasses.replace(shown(), run=Run.of(readings))


def test_a_gradient_of_nothing_is_a_gap():
    (made,) = sections(flow((1.0, 0.001, 1.0), (0.0, 0.0, 1.0), (math.nan, 0.0, 1.0)), ())
    first, second = made.html.split("<svg")[1:]
    assert first.count("<rect") == 1
    assert second.count("<rect") == 1


def test_the_last_is_told_in_figures():
    (made,) = sections(flow((1.0, 0.001, 1.0), (0.25, 0.002, 2.0)), ())
    assert "<td>0.25</td>" in made.html
    assert "<td>0.001</td>" in made.html


def test_weights_that_are_all_zero_and_gradients_beyond_all_bounds_have_no_ratio():
    (made,) = sections(flow((math.inf, 0.1, 0.0), (math.inf, 0.1, 0.0)), ())
    assert "<td>inf</td>" in made.html
    assert "<td>–</td>" in made.html


def test_without_tables_there_is_nothing_to_show():
    assert list(sections(dataclasses.replace(shown(), run=Run.of([Reading(0, 0, 0.0, {})])), ())) == []
