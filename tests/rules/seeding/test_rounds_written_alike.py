import pytest

from rldebug.rules.seeding.rounds_written_alike import RoundsWrittenAlike
from tests import wild
from tests.judge import fires, not_enough, quiet
from tests.programs.tokens import program
from tests.watched import watched

rule = RoundsWrittenAlike()


def test_fires_where_each_round_begins_with_one_seed():
    assert "of the round before" in fires(rule, wild.seen("tokens", "reseeded")[1]).seen


@pytest.mark.parametrize("fault", ["one set of prompts"])
def test_quiet_where_the_prompts_come_again_and_draws_do_not(fault):
    quiet(rule, watched(lambda: program(fault))[1])


def test_declines_where_prompts_differ():
    not_enough(rule, wild.seen("tokens")[1])
