from rldebug.evidence.machine import Conflict
from rldebug.rules.installation.versions_contradict import VersionsContradict
from tests.judge import quiet
from tests.rules.machines import machine, names


def test_fires_when_a_bound_is_not_kept():
    told = Conflict("stable-baselines3", "2.2.1", "gymnasium<0.30,>=0.28.1", "gymnasium", "1.4.0")
    finding = names(VersionsContradict(), machine(conflicts=(told,)))
    assert finding.message == "stable-baselines3 2.2.1 rules gymnasium 1.4.0 out"
    assert "'gymnasium<0.30,>=0.28.1'" in finding.help


def test_quiet_when_all_bounds_are_kept():
    quiet(VersionsContradict(), machine())
