import dataclasses

import pytest

from rldebug.finding import Report
from rldebug.render.bands import Band
from rldebug.render.sections import tiles
from rldebug.render.shown import Charts

from .shown import shown


@pytest.fixture
def banded(monkeypatch):
    known = Band(share=(0.0, 0.5, 1.0), low=(0.0, 0.1, 0.2), high=(1.0, 0.9, 0.8), runs=9)
    monkeypatch.setattr(tiles, "band", lambda family, name: known if (family, name) == ("ppo", "policy/kl") else None)


def drawn(main, name="policy/kl"):
    charts = Charts("policy")
    tiles.tile(name, main, charts)
    return charts.specs[0]


def of_family(family, **meta):
    main = shown(report=Report("report", program={"family": family}))
    return dataclasses.replace(main, run=dataclasses.replace(main.run, meta={**main.run.meta, **meta}))


@pytest.mark.usefixtures("banded")
def test_the_healthy_band_is_drawn_over_the_course_of_the_run():
    assert drawn(of_family("ppo"))["healthy"] == {
        "x": [0, 20, 39],
        "low": [0.0, 0.1, 0.2],
        "high": [1.0, 0.9, 0.8],
        "runs": 9,
    }


@pytest.mark.usefixtures("banded")
def test_a_run_that_goes_on_has_no_course_yet():
    healthy = drawn(of_family("ppo", state="running"))["healthy"]
    assert (healthy["low"], healthy["high"]) == ([0.0] * 3, [1.0] * 3)


@pytest.mark.usefixtures("banded")
def test_other_algorithms_have_other_bands():
    assert "healthy" not in drawn(of_family("dqn"))
    assert "healthy" not in drawn(of_family(None))
