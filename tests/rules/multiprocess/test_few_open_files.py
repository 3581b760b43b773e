from rldebug.rules.multiprocess.few_open_files import FewOpenFiles
from tests.judge import quiet
from tests.rules.machines import machine, names


def test_fires_when_the_limit_is_low():
    finding = names(FewOpenFiles(), machine(limits={"files": 256, "files_hard": 4096}))
    assert finding.severity == "note"
    assert finding.help.startswith("ulimit -n 4096")


def test_fires_when_it_is_low_for_so_many_workers():
    finding = names(
        FewOpenFiles(),
        machine(limits={"files": 1024, "cores": 128, "affinity": 128}, torch={"threads": 1}, workers=128),
    )
    assert finding.severity == "warning"
    assert "for 128 workers" in finding.seen


def test_it_shares_by_name_when_the_limit_cannot_be_raised():
    assert "file_system" in names(FewOpenFiles(), machine(limits={"files": 256, "files_hard": 256})).help


def test_quiet_with_the_usual_limit():
    quiet(FewOpenFiles(), machine(limits={"files": 1024}, workers=8))


def test_quiet_without_a_limit():
    quiet(FewOpenFiles(), machine(limits={"files": None}))
