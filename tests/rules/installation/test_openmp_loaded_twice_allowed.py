import pytest

from rldebug.rules.installation.openmp_loaded_twice_allowed import OpenmpLoadedTwiceAllowed
from tests.judge import quiet
from tests.rules.machines import machine, names


def test_fires_when_the_check_is_off():
    assert names(OpenmpLoadedTwiceAllowed(), machine(variables={"KMP_DUPLICATE_LIB_OK": "TRUE"})).severity == "note"


@pytest.mark.parametrize("variables", [{}, {"KMP_DUPLICATE_LIB_OK": "FALSE"}])
def test_quiet_when_it_is_on(variables):
    quiet(OpenmpLoadedTwiceAllowed(), machine(variables=variables))
