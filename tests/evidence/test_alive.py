import os
import subprocess
import sys

import pytest

from rldebug.evidence.alive import alive


def test_a_process_is_there_until_it_has_ended():
    process = subprocess.Popen([sys.executable, "-c", ""])
    assert alive(os.getpid())
    process.wait()
    assert not alive(process.pid)


@pytest.mark.parametrize("pid", [None, "1", 0, -1, True, 1.0, 10**30])
def test_what_is_no_number_of_a_process_is_not_there(pid):
    assert not alive(pid)
