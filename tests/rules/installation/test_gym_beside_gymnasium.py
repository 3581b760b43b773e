from rldebug.rules.installation.gym_beside_gymnasium import GymBesideGymnasium
from tests.judge import quiet
from tests.rules.machines import machine, names, with_packages


def test_fires_when_both_are_there():
    finding = names(GymBesideGymnasium(), machine(**with_packages(gym="0.26.2", numpy="1.26.4")))
    assert finding.severity == "note"


def test_quiet_with_gymnasium_alone():
    quiet(GymBesideGymnasium(), machine())
