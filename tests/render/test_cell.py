"""A report in a cell of a notebook: offline, escaped, light and dark."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from rldebug import Finding, Report
from rldebug.finding import Where

HOSTILE = '<script>alert(1)</script>" onmouseover="alert(2)'


def finding(**changed) -> Finding:
    told = {
        "code": "ADV003",
        "name": "advantage-sign-flipped",
        "component": "advantage",
        "severity": "error",
        "message": "advantages have the wrong sign",
        "seen": "-1.0",
        "expected": "+1",
        "help": "swap the operands",
        "confidence": 0.99,
        "where": Where(file="train.py", line=88),
    }
    return Finding(**{**told, **changed})


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def tags(html: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(html)
    return parser.seen


def test_it_says_what_the_report_says():
    html = Report("attach", (finding(),), checked=("ADV003",), skipped={"TGT001": "needs a target"})._repr_html_()
    for each in (
        "1 error",
        "advantages have the wrong sign",
        "train.py:88",
        "swap the operands",
        "needs a target",
        "0.99",
    ):
        assert each in html
    assert "## What it checks" not in html  # the page is there, as HTML
    assert "<h2>What it checks</h2>" in html


def test_one_finding_alone():
    html = finding()._repr_html_()
    assert html.count("<article") == 1
    assert "Suspects" not in html


def test_names_may_be_hostile():
    bad = finding(message=HOSTILE, seen=HOSTILE, help=HOSTILE, where=Where(file=HOSTILE, line=1, tensor=HOSTILE))
    report = Report(
        HOSTILE,
        (bad,),
        checked=(HOSTILE,),
        skipped={HOSTILE: HOSTILE},
        broken={HOSTILE: HOSTILE},
        program={"family": HOSTILE, "environment": HOSTILE},
        problems=(HOSTILE,),
    )
    for html in (report._repr_html_(), bad._repr_html_()):
        assert "alert(1)" in html
        for tag, attributes in tags(html):
            assert tag != "script"
            assert not [name for name in attributes if name.startswith("on")]


def test_nothing_is_fetched_and_nothing_else_of_the_page_is_styled():
    html = Report("attach", (finding(),))._repr_html_()
    assert not re.search(r"url\(|@import|src=|<link|<script", html)
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]
    rules = re.sub(r"@media[^{]*\{", "", style)
    for selectors in re.findall(r"([^{}]+)\{[^}]*\}", rules):
        for each in re.split(r",(?![^()]*\))", selectors):
            assert ".rldebug-cell" in each, each


def test_it_follows_the_theme_of_the_front_end():
    style = finding()._repr_html_()
    assert "prefers-color-scheme: dark" in style
    assert '[data-jp-theme-light="false"] .rldebug-cell' in style
    assert ".vscode-dark .rldebug-cell" in style


def test_plain_text_where_there_is_no_html():
    from IPython.lib.pretty import pretty

    text = pretty(Report("attach", (finding(),), checked=("ADV003",)))
    assert text.startswith("error[ADV003]: advantages have the wrong sign")
    assert text.endswith("1 error · 1 rule ran")
    assert pretty(finding()).endswith("more: rldebug explain ADV003")
