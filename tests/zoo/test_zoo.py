"""Every planted bug is named: its code is a root finding, and its component the first suspect."""

import pytest

from tests.zoo import plant


def marked(name):
    """Bugs that show only on the wall clock run with the slow tests: a busy machine must not fail the others."""
    marks = [pytest.mark.slow] if getattr(plant.bug(name), "WALL_CLOCK", False) else []
    return pytest.param(name, marks=marks, id=name)


@pytest.mark.parametrize("name", [marked(name) for name in plant.bugs()])
def test_planted_bug_is_named(name, tmp_path):
    bug = plant.bug(name)
    report = plant.run(bug.BASE, bug.REPLACE, tmp_path, **getattr(bug, "TRAIN", {}))
    accepted = {bug.EXPECT, *getattr(bug, "ACCEPT", ())}  # ACCEPT: equivalent root causes, each with its reason
    roots = [finding.code for finding in report.roots]
    assert bug.EXPECT in roots, f"found {roots or 'nothing'}; skipped: {report.skipped.get(bug.EXPECT)}"
    worst = [finding for finding in report.roots if finding.severity != "note"]
    if worst:
        assert worst[0].code in accepted, f"{worst[0].code} stands before {bug.EXPECT}: {worst[0].seen}"
