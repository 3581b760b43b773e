import numpy as np

from rldebug.rules.installation.built_for_another_numpy import BuiltForAnotherNumpy
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_a_package_is_of_numpy_1():
    names(BuiltForAnotherNumpy(), crashed(saying(ImportError("numpy.core.multiarray failed to import"))))


def test_quiet_when_a_name_is_gone():
    quiet(BuiltForAnotherNumpy(), crashed(lambda: np.bool8))
