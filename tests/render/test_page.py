import json
import math
import re

import pytest

from rldebug.evidence.run import Reading, Run
from rldebug.finding import Finding, Report, Where
from rldebug.render.page import bare, page

HOSTILE = '</script><script>alert("x")</script><img src=x onerror=alert(1)>'


def found(code="ENT001", **more):
    given = {"name": "entropy-collapse", "component": "entropy", "severity": "warning", "message": "m", "seen": "s"}
    return Finding(**{"code": code, "expected": "e", "help": "h", "confidence": 0.9, **given, **more})


def recorded(numbers=None, meta=None, readings=40):
    numbers = numbers or {"policy/entropy_rel": 0.5, "episode/return_mean": 1.0, "loss/policy": 0.1, "user/mine": 2.0}
    return Run.of(
        [
            Reading(
                update=i,
                env_step=i * 10,
                seconds=float(i),
                numbers={name: value * (1 + i) for name, value in numbers.items()},
                histograms={"histogram/value": [-1.0, 1.0 + i, *range(32)]},
                tables={
                    "parameters": {"policy.0.weight": [0.1 * i, 0.2, 0.0, 0.1, 1.0, 0.0, 0.1]},
                    "layers": {"policy.0": [0.1, 0.2, 0.3, math.nan, math.nan]},
                },
                traces={"trace/value": [0.1, 0.2], "trace/reward": [0.0, 1.0], "trace/end": [0.0, 1.0]},
            )
            for i in range(readings)
        ],
        meta or {"name": "a run"},
    )


def without_plotly(html):
    """The page less the library, which is full of addresses it never asks for."""
    scripts = re.findall(r"<script>.*?</script>", html, re.DOTALL)
    assert len(scripts) == 2
    return html.replace(scripts[0], "")


@pytest.fixture(scope="module")
def html():
    report = Report(
        "report",
        (found(where=Where(update=5, env_step=50)), found("ENT002", message="follower", follows=("ENT001",))),
        checked=("ENT001",),
        skipped={"TGT001": "needs a target network"},
        broken={"OPT001": "Traceback\nValueError: x"},
        problems=("line 3 was left out",),
    )
    return page(bare(report, recorded()))


def test_the_order_is_diagnosis_learning_metrics_losses(html):
    titles = re.findall(r"<h2>(.*?)</h2>", re.sub(r"<details.*?</details>", "", html, flags=re.DOTALL))
    assert titles == [
        "Diagnosis", "How fast it learns, and where it levels out", "A recent episode, as the critic saw it",
        "Environment and episodes", "Policy and exploration", "Your own metrics", "Gradient flow, by layer",
        "Distributions over time", "Parameters", "Layers", "Losses",
    ]  # fmt: skip


def test_what_was_found_what_was_not_and_why(html):
    for text in ("follower", "needs a target network", "line 3 was left out", "ValueError: x", "What to try first"):
        assert text in html


def test_it_asks_nobody_for_anything(html):
    ours = without_plotly(html)
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", ours)
    assert not re.search(r"@import|url\(", ours)
    assert "default-src 'none'" in ours
    assert "plotly" in html.lower()


def test_every_chart_has_its_data(html):
    data = json.loads(re.search(r'<script type="application/json" id="charts">(.*?)</script>', html, re.DOTALL)[1])
    assert set(re.findall(r'data-chart="([a-z.0-9]+)"', html)) == data["charts"].keys()
    assert {each["kind"] for each in data["charts"].values()} == {"line", "return", "trace", "heat"}


def test_the_finding_is_marked_where_it_was_made(html):
    data = json.loads(re.search(r'id="charts">(.*?)</script>', html, re.DOTALL)[1])
    marks = [mark for each in data["charts"].values() for mark in each.get("marks", ())]
    assert {"update": 5, "env_step": 50, "code": "ENT001", "severity": "warning"} in marks


def test_nothing_hostile_becomes_markup():
    run = recorded({HOSTILE: 1.0, f"user/{HOSTILE}": 1.0}, {"name": HOSTILE, "env": {"id": HOSTILE}, "error": HOSTILE})
    texts = dict.fromkeys(("message", "seen", "expected", "help", "name"), HOSTILE)
    finding = found(**texts, where=Where(HOSTILE, tensor=HOSTILE))
    report = Report("report", (finding,), ("ENT001",), {"TGT001": HOSTILE}, {HOSTILE: HOSTILE}, problems=(HOSTILE,))
    ours = without_plotly(page(bare(report, run)))
    assert "<img" not in ours
    assert "alert(" in ours
    assert len(re.findall(r"<script", ours)) == 2  # the data and page.js


def test_not_a_number_is_data_not_an_error():
    bad = [math.nan, math.inf, -math.inf, 1.0, 2.0, 3.0] * 10
    run = Run.from_series({"value/mean": bad, "grad/norm": [math.nan] * 60, "loss/value": [1.0] * 60})
    html = page(bare(Report("report"), run))
    assert "20 infinite" in html
    assert "10 undefined" in html
    assert "<b>grad/norm</b> undefined in all 60 readings" in html
    assert "<b>loss/value</b> 1 throughout" in html


def test_an_almost_empty_run_has_a_page():
    assert "Diagnosis" in page(bare(Report("report"), Run.of([Reading(0, 0, 0.0, {})])))


def test_a_long_run_stays_small_and_keeps_its_spikes():
    values = [1.0 + 0.001 * (i % 7) for i in range(20_000)]
    values[12_345] = 1e6
    html = page(bare(Report("report"), Run.from_series({"grad/norm": values})))
    ours = without_plotly(html)
    assert len(ours) < 100_000
    assert "1000000.0" in ours
