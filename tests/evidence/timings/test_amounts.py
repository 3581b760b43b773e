import pytest

from rldebug.evidence.timing import Timing
from rldebug.evidence.timings.amounts import of_the_run


@pytest.mark.parametrize(
    ("seconds", "told"), [(10.0, "100 %"), (9.96, "100 %"), (3.5, "35 %"), (0.56, "5.6 %"), (0.02, "0.2 %")]
)
def test_shares_are_told_in_plain_digits(seconds, told):
    assert of_the_run(Timing(seconds=10.0), seconds) == f"{told} of the run"
