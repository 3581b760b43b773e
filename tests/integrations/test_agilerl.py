"""AgileRL, where it is installed: its pins do not go together with those of other libraries, see the page."""

import pytest
import torch

from tests.integrations import pages

pytest.importorskip("agilerl.algorithms.dqn", reason="AgileRL is not installed; docs/integrations/agilerl.md says why")

pytestmark = pytest.mark.integration
EXAMPLE = pages.block("agilerl")


def run(example, folder, monkeypatch):
    monkeypatch.chdir(folder)
    torch.manual_seed(0)
    return pages.run("agilerl", example)


def changed(before, after):
    assert EXAMPLE.count(before) == 1
    return EXAMPLE.replace(before, after)


def test_the_example_of_the_page_runs_and_is_quiet(tmp_path, monkeypatch):
    report = run(EXAMPLE, tmp_path, monkeypatch)["dbg"].close()
    assert report.clean, report.findings
    assert {each["of"] for each in report.program["targets"]} == {"Q"}


def test_the_default_is_quiet_too(tmp_path, monkeypatch):
    assert run(changed(", double=False", ""), tmp_path, monkeypatch)["dbg"].close().clean


@pytest.mark.parametrize(
    ("before", "after", "component"),
    [("done=terminated", "done=False", "discounting"), ("next_obs=after", "next_obs=obs", "buffer")],
    ids=["ends not stored", "the observation itself stored as the next"],
)
def test_a_planted_bug_is_named(before, after, component, tmp_path, monkeypatch):
    report = run(changed(before, after), tmp_path, monkeypatch)["dbg"].close()
    assert report.suspects[0].component == component


def test_watching_changes_nothing(tmp_path, monkeypatch):
    import numpy as np

    kept = []
    for watched in (False, True):
        np.random.seed(0)
        text = EXAMPLE if watched else changed('rldebug.attach(run="agilerl") as dbg', "contextlib.nullcontext()")
        kept.append(run("import contextlib\n" + text, tmp_path, monkeypatch)["agent"].actor.state_dict())
    assert all(torch.equal(kept[0][name], kept[1][name]) for name in kept[0])
