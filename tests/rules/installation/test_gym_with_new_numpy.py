from rldebug.rules.installation.gym_with_new_numpy import GymWithNewNumpy
from tests.judge import quiet
from tests.rules.machines import machine, names, with_packages


def test_fires_with_numpy_2():
    finding = names(GymWithNewNumpy(), machine(**with_packages(gym="0.26.2")))
    assert finding.seen == "gym 0.26.2, NumPy 2.4.6"


def test_quiet_with_numpy_1():
    quiet(GymWithNewNumpy(), machine(**with_packages(gym="0.26.2", numpy="1.26.4")))


def test_quiet_without_gym():
    quiet(GymWithNewNumpy(), machine())
