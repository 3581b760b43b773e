from rldebug.evidence.machine import Package
from rldebug.rules.installation.package_installed_twice import PackageInstalledTwice
from tests.judge import quiet
from tests.rules.machines import machine, names, with_packages


def twice(other):
    return machine(packages=(Package("numpy", "2.4.6", "/opt/venv/lib", hidden=(f"{other} in /home/me/.local",)),))


def test_fires_when_two_versions_are_on_the_path():
    finding = names(PackageInstalledTwice(), twice("1.26.4"))
    assert "2.4.6 in /opt/venv/lib, which is imported; 1.26.4 in /home/me/.local" in finding.seen


def test_fires_when_opencv_is_there_in_several_kinds():
    finding = names(
        PackageInstalledTwice(), machine(**with_packages(opencv_python="4.8", opencv_python_headless="4.9"))
    )
    assert "pip uninstall opencv-python opencv-python-headless" in finding.help


def test_quiet_when_both_are_the_same():
    quiet(PackageInstalledTwice(), twice("2.4.6"))


def test_quiet_when_each_is_there_once():
    quiet(PackageInstalledTwice(), machine(**with_packages(opencv_python="4.8")))
