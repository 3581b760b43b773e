"""Bands as charts are drawn on them: every one of them can be drawn, and tells a sound run from one that is not."""

import json
import math
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest

from rldebug.catalogue import metrics
from rldebug.render.bands import Band, band

DATA = json.loads(files("rldebug.render").joinpath("healthy_bands.json").read_text(encoding="utf-8"))
ALL = [(family, name) for family, named in DATA["families"].items() for name in named]


def test_there_is_one_for_what_says_most_about_a_policy():
    for name in ("policy/kl", "policy/clip_fraction", "policy/ratio_std", "value/residual_var"):
        assert isinstance(band("ppo", name), Band), name


@pytest.mark.parametrize("family", ["ppo", "actor-critic", "q-learning", "actor-critic-off-policy", "policy-gradient"])
def test_every_family_that_a_report_can_tell_has_some(family):
    assert DATA["families"][family]


@pytest.mark.parametrize(
    ("family", "name"),
    [(None, "policy/kl"), ("", "policy/kl"), ("evolution", "policy/kl"), ("ppo", "no/such"), ("ppo", "policy/kl@Adam")],
)
def test_what_is_not_known_has_none(family, name):
    assert band(family, name) is None


@pytest.mark.parametrize(
    "name",
    ["episode/return_mean", "value/mean", "loss/value", "grad/norm", "pace/updates", "optimizer/lr", "target/std"],
)
def test_what_the_task_or_the_network_sizes_has_none(name):
    assert not [family for family in DATA["families"] if band(family, name) is not None]


@pytest.mark.parametrize(("family", "name"), ALL)
def test_each_can_be_drawn(family, name):
    found = band(family, name)
    assert found.share[0] == 0.0
    assert found.share[-1] == 1.0
    assert list(found.share) == sorted(set(found.share))
    assert len(found.share) == len(found.low) == len(found.high)
    for low, high in zip(found.low, found.high, strict=True):
        assert math.isfinite(low)
        assert math.isfinite(high)
        assert low <= high
    assert found.runs >= 3


def test_every_reading_with_a_band_is_in_the_catalogue():
    assert {name for _, name in ALL} <= {name for each in metrics() for name in each.names}


def inside(name, values, family="ppo"):
    """Share of a run's readings, evenly spread over it, that lie in the band."""
    found, at = band(family, name), np.linspace(0, 1, len(values))
    low, high = np.interp(at, found.share, found.low), np.interp(at, found.share, found.high)
    return float(np.mean((low <= values) & (values <= high)))


def test_a_run_as_they_should_be_lies_inside_and_one_that_goes_astray_does_not():
    noise = np.random.default_rng(0).normal(size=200)
    assert inside("policy/kl", 0.006 + 0.001 * noise) > 0.95
    assert inside("policy/kl", 0.3 + 0.01 * noise) == 0  # steps far too large
    assert inside("policy/clip_fraction", np.clip(0.1 + 0.03 * noise, 0, 1)) > 0.95
    assert inside("value/residual_var", 0.6 - 0.2 * np.linspace(0, 1, 200) + 0.05 * noise) > 0.95
    assert inside("value/residual_var", 30 + noise) == 0  # a critic that is worse than none
    assert inside("step/unchanged", np.zeros(200)) == 1
    assert inside("step/unchanged", np.full(200, 4.0)) == 0  # some weights never move


def test_the_server_of_a_dashboard_can_use_it_without_torch():
    code = (
        "import sys; from rldebug.render.bands import band; band('ppo', 'policy/kl'); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
