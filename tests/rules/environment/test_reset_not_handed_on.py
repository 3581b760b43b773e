"""An automatic reset that hands on the last observation of the old episode."""

from __future__ import annotations

from rldebug.diagnose import diagnose
from tests import wild
from tests.wild.test_wild import findings

FAULT = "old-observation-handed-on"


def test_fires_at_the_reset_within_the_step() -> None:
    (finding,) = findings("memory_batched", FAULT, "ENV514")
    assert finding.component == "environment"
    assert "Abreast.step()" in (finding.seen or "")
    assert finding.where is not None
    assert finding.where.line


def test_the_buffer_is_not_blamed_for_it() -> None:
    report = diagnose([*wild.seen("memory_batched", FAULT)], command="run")
    assert "BUF501" not in {each.code for each in report.roots}


def test_quiet_where_the_first_observation_is_handed_on() -> None:
    assert not findings("memory_batched", "", "ENV514")


def test_quiet_where_the_loop_itself_resets() -> None:
    assert not findings("memory_ppo", "", "ENV514")
