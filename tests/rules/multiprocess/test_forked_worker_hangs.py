from rldebug.evidence.machine import Trial
from rldebug.rules.multiprocess.forked_worker_hangs import ForkedWorkerHangs
from tests.judge import quiet
from tests.rules.machines import machine, names

HANGS = Trial("fork", facts={"hangs": True})


def test_fires_when_workers_are_to_be_forked():
    assert names(ForkedWorkerHangs(), machine(HANGS, torch={"threads": 2}, workers=4)).severity == "note"


def test_quiet_when_nobody_asked_for_workers():
    quiet(ForkedWorkerHangs(), machine(HANGS))


def test_quiet_when_they_are_spawned():
    quiet(ForkedWorkerHangs(), machine(HANGS, limits={"start_method": "forkserver"}, workers=4))


def test_quiet_when_the_fork_computes():
    quiet(ForkedWorkerHangs(), machine(workers=4))
