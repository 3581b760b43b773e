import numpy as np

from rldebug.rules.installation.library_name_gone import LibraryNameGone
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_numpy_has_lost_a_name():
    names(LibraryNameGone(), crashed(lambda: np.bool8))


def test_fires_when_a_name_cannot_be_imported():
    def program():
        from torch import no_such_name  # noqa: F401

    names(LibraryNameGone(), crashed(program))


def test_quiet_when_an_object_lacks_an_attribute():
    quiet(LibraryNameGone(), crashed(lambda: np.zeros(2).mode()))
