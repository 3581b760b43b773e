"""Games in turns, as OpenSpiel's environments give them: each player's own steps, with what happens in between."""

import sys
import textwrap

import numpy as np
import pytest

from tests.capture.env_stub import watched

# Player 0 moves, then player 1, then player 0 again; each move pays its player 1 and the other -0.5.
LIBRARY = """
    import collections, enum

    class StepType(enum.Enum):
        FIRST = 0
        MID = 1
        LAST = 2

    TimeStep = collections.namedtuple("TimeStep", ["observations", "rewards", "discounts", "step_type"])

    class Environment:
        num_players, name = 2, "three_moves"
        def __init__(self, together=False):
            self.together, self.moves = together, None
        def action_spec(self):
            return {"num_actions": 4}
        def observation_spec(self):
            return {"info_state": (2,)}
        def _time_step(self, kind, rewards):
            last = kind is StepType.LAST
            player = -4 if last else -2 if self.together else len(self.moves) % 2
            seen = [[float(len(self.moves)), float(each)] for each in range(2)]
            return TimeStep({"info_state": seen, "current_player": player}, rewards, [0.0 if last else 1.0] * 2, kind)
        def reset(self):
            self.moves = []
            return self._time_step(StepType.FIRST, None)
        def step(self, actions):
            if self.moves is None or len(self.moves) == 3:
                return self.reset()
            mover = len(self.moves) % 2
            self.moves.append(actions)
            kind = StepType.LAST if len(self.moves) == 3 else StepType.MID
            paid = [1.0 if self.together or player == mover else -0.5 for player in range(2)]
            return self._time_step(kind, paid)
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    packages = tmp_path / "site-packages"  # a library's, not the user's own
    package = packages / "open_spiel" / "python"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package / "rl_environment.py").write_text(textwrap.dedent(LIBRARY))
    monkeypatch.syspath_prepend(packages)
    for name in [each for each in sys.modules if each.partition(".")[0] == "open_spiel"]:
        monkeypatch.delitem(sys.modules, name)
    yield
    for name in [each for each in sys.modules if each.partition(".")[0] == "open_spiel"]:
        del sys.modules[name]


def played(log):
    """By player: what was told of it, in order."""
    players = [each.env for each in log.all("new")]
    return [[each for each in log.said if each.env == player and each.what != "new"] for player in players]


def test_a_step_lasts_until_it_is_the_players_turn_again(library):
    with watched() as log:
        from open_spiel.python import rl_environment

        env = rl_environment.Environment()
        env.reset()
        for action in (3, 2, 1):
            env.step([action])
    assert [each.facts["id"] for each in log.all("new")] == ["three_moves, player 0", "three_moves, player 1"]
    first, second = played(log)
    assert [each.what for each in first] == ["reset", "step", "step"]
    assert [each.action for each in first[1:]] == [3, 1]
    assert [each.reward for each in first[1:]] == [0.5, 1.0], "its own move, and what the other's cost it"
    assert [each.terminated for each in first[1:]] == [False, True]
    np.testing.assert_array_equal(first[1].obs, [2, 0])
    assert [each.what for each in second] == ["reset", "step"]
    assert (second[1].action, second[1].reward, second[1].terminated) == (2, 0.5, True)


def test_a_step_after_the_end_begins_the_next_game(library):
    with watched() as log:
        from open_spiel.python import rl_environment

        env = rl_environment.Environment()
        for _ in range(8):
            env.step([0])
    first, second = played(log)
    assert [each.what for each in first] == ["reset", "step", "step"] * 2
    assert [each.what for each in second] == ["reset", "step"] * 2


def test_who_moves_at_once_steps_at_once(library):
    with watched() as log:
        from open_spiel.python import rl_environment

        env = rl_environment.Environment(together=True)
        env.reset()
        for _ in range(3):
            env.step([1, 2])
    for player, told in enumerate(played(log)):
        assert [each.what for each in told] == ["reset", "step", "step", "step"]
        assert {each.action for each in told[1:]} == {player + 1}


def test_a_game_that_is_under_way_is_followed_from_the_next_turn_on(library):
    from open_spiel.python import rl_environment

    env = rl_environment.Environment()
    env.reset()
    with watched() as log:
        for action in (3, 2, 1):
            env.step([action])
    first, second = played(log)
    assert [each.what for each in second] == ["reset", "step"]
    assert [each.what for each in first] == ["reset", "step"]
