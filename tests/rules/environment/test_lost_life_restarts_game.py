from rldebug.rules.environment.lost_life_restarts_game import LostLifeRestartsGame
from tests import wild
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import script

rule = LostLifeRestartsGame()


def test_fires_where_each_lost_life_resets_the_game():
    found = fires(rule, wild.seen("lives", "game-begins-anew")[1])
    assert found.component == "environment"
    assert "lives left" in found.seen


def test_quiet_where_the_game_goes_on():
    quiet(rule, wild.seen("lives")[1])


def test_fires_on_evidence_by_hand():
    fires(rule, script({"facts": {"lives_renewed": 9}}))


def test_quiet_where_some_games_go_on():
    quiet(rule, script({"facts": {"lives_renewed": 9, "lives_kept": 4}}))


def test_not_enough_without_lives():
    assert "lives left" in not_enough(rule, script({}))
