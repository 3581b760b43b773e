from rldebug.evidence.machine import Trial
from rldebug.rules.installation.package_cannot_be_imported import PackageCannotBeImported
from tests.judge import fires, quiet
from tests.rules.machines import machine, names


def test_fires_when_a_package_that_it_needs_is_missing():
    finding = names(
        PackageCannotBeImported(), machine(imports={"tianshou": "ModuleNotFoundError: No module named 'sensai'"})
    )
    assert "tianshou is installed and cannot be imported" in finding.message
    assert "sensai" in finding.help


def test_fires_when_a_library_of_the_system_is_missing():
    said = "ImportError: libGL.so.1: cannot open shared object file: No such file or directory"
    assert "opencv-python-headless" in names(PackageCannotBeImported(), machine(imports={"cv2": said})).help
    assert "libGL.so.1" in fires(PackageCannotBeImported(), machine(imports={"pygame": said})).help


def test_fires_when_torch_ends_the_process():
    finding = names(
        PackageCannotBeImported(), machine(Trial("torch", "died", "importing torch", "ended by SIGILL"), torch=None)
    )
    assert finding.severity == "error"
    assert finding.seen == "ended by SIGILL"


def test_quiet_when_all_can_be_imported():
    quiet(PackageCannotBeImported(), machine())
