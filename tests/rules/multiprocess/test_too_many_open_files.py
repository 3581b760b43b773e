from pathlib import Path

from rldebug.rules.multiprocess.too_many_open_files import TooManyOpenFiles
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_no_descriptor_is_left():
    names(TooManyOpenFiles(), crashed(saying(OSError(24, "Too many open files"))))


def test_fires_when_tensors_cannot_be_handed_over():
    finding = names(TooManyOpenFiles(), crashed(saying(RuntimeError("received 0 items of ancdata"))))
    assert "file_system" in finding.help


def test_quiet_when_a_file_is_not_there():
    quiet(TooManyOpenFiles(), crashed(Path("no/such/file").read_text))
