"""Programs in the way of PufferLib, which does not install beside the newest libraries: see its page."""

import pytest

from tests.integrations import pages
from tests.integrations.written_out import judged, rldebug, written

pytestmark = pytest.mark.integration


def test_the_command_of_the_page_runs_and_finds_nothing(tmp_path):
    written("native_vector_ppo", tmp_path / "train.py")
    (command,) = pages.block("pufferlib", "sh").splitlines()
    tool, *words = command.split()
    assert tool == "rldebug"
    status, said = rldebug(tmp_path, *words)
    assert status == 0, said
    assert "nothing wrong found" in said
    assert "Corridors × 16" in said, "one environment of sixteen agents, through send() and recv()"


@pytest.mark.parametrize(
    ("change", "component"),
    [
        (("alive = 1.0 - dones[t]", "alive = 1.0"), "discounting"),
        (("obs[t], acts[t], logps[t], vals[t] = seen,", "obs[t - 1], acts[t], logps[t], vals[t] = seen,"), "buffer"),
    ],
    ids=["ends not masked", "observations stored a row too early"],
)
def test_a_line_that_a_user_broke_is_named(change, component, tmp_path):
    report = judged("native_vector_ppo", tmp_path, change)
    assert report.suspects[0].component == component, report.findings
