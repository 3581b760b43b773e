import os
import signal

import numpy as np
import pytest

from rldebug.probe import climb_ladder, report_on, stopped
from rldebug.probes.shelf import probes
from tests.probes.tabular import Tabular

FIVE = [each.name for each in probes()[:5]]


def test_side_by_side_says_the_same_in_the_same_order():
    alone = climb_ladder(Tabular, probes=FIVE)
    together = climb_ladder(Tabular, probes=FIVE, jobs=3)
    assert [each.name for each in together.rungs] == FIVE
    for one, other in zip(alone.rungs, together.rungs, strict=True):
        assert (one.outcome, one.reason) == (other.outcome, other.reason)
        np.testing.assert_array_equal(one.attempts[0].history, other.attempts[0].history)


def test_side_by_side_what_stands_on_a_failed_rung_is_not_run():
    ladder = climb_ladder(lambda make_env: Tabular(make_env, wrong="frozen"), probes=FIVE, jobs=2)
    assert ladder["observed-action-reward"].outcome == "not run"


def test_a_process_that_dies_is_a_crash_with_its_reason():
    class Dies(Tabular):
        def learn(self, steps):
            if steps > 1 and self.actions == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            super().learn(steps)

    ladder = climb_ladder(Dies, probes=["constant-reward", "action-reward"], jobs=2)
    assert [each.outcome for each in ladder.rungs] == ["crashed", "crashed"]
    assert "SIGKILL" in ladder.rungs[0].reason
    assert report_on(ladder).exit == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_shows_what_is_there(jobs):
    def interrupt(rung):
        raise KeyboardInterrupt

    ladder = climb_ladder(Tabular, probes=FIVE, jobs=jobs, progress=interrupt)
    assert len(ladder.rungs) == 5
    assert sum(each.outcome == "passed" for each in ladder.rungs) == 1
    assert stopped(ladder)


def test_progress_is_called_with_every_rung():
    seen = []
    climb_ladder(Tabular, probes=FIVE[3:], progress=seen.append)
    assert [each.name for each in seen] == FIVE[3:]
