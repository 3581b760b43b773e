"""Over which rows advantages are normalised, where sequences are filled up."""

from functools import partial

import pytest

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough
from rldebug.rules.advantage.filler_in_the_normalisation import FillerInTheNormalisation
from tests.programs.padded import program
from tests.watched import watched


def found(fault):
    return [each.seen for each in FillerInTheNormalisation().check(watched(partial(program, fault))[1])]


def test_fires_where_filler_is_normalised_too():
    assert "over all rows" in found("filler in the normalisation")[0]


def test_quiet_where_the_steps_alone_are():
    assert not found("normalised")


def test_says_nothing_without_sequences():
    with pytest.raises(NotEnough):
        list(FillerInTheNormalisation().check(Script()))
