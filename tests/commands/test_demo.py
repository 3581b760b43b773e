import json
from pathlib import Path

import jsonschema

from rldebug import demo
from rldebug.finding import Finding, Report
from rldebug.render.json import schema


def test_the_planted_bug_is_named_and_the_twin_is_clean(rldebug):
    said = rldebug("demo", "--html", "page.html", "--json", "out.json")
    assert said.status == 0, said.out + said.err
    assert f"{demo.PLANTED}" in said.out
    assert "nothing wrong found" in said.out
    assert "page.html" in said.out
    assert Path("page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    jsonschema.validate(json.loads(Path("out.json").read_text(encoding="utf-8")), schema())
    assert rldebug("diff", "demo-healthy", "demo-broken").status == 1


def test_a_claim_that_does_not_hold_is_said():
    def report(*names, severity="error"):
        found = (Finding("ADV003", each, "advantage", severity, "m", "s", "e", "h", 0.9) for each in names)
        return Report("watch", tuple(found))

    assert demo.complaints(report(demo.PLANTED), report()) == []
    assert demo.complaints(report(demo.PLANTED), report("x", severity="note")) == []
    assert "was not named: found nothing" in demo.complaints(report(), report())[0]
    assert "was not named: found other" in demo.complaints(report("other", demo.PLANTED), report())[0]
    assert "twin is not clean: ADV003 other" in demo.complaints(report(demo.PLANTED), report("other"))[0]
