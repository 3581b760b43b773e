from rldebug.evidence.run import Run
from rldebug.rules.exploration.no_exploration import NoExploration
from tests.judge import fires, not_enough, quiet


def run_with(shares, steps=64, actions=2, episodes=6):
    return Run.from_series(
        {
            "env/action_mode_share": shares,
            "episode/steps": [steps] * len(shares),
            "episode/count": [episodes] * len(shares),
        },
        facts={"env": {"actions": actions}},
    )


def test_fires_when_one_action_is_all_there_is():
    fires(NoExploration(), run_with([1.0] * 10))


def test_fires_when_the_start_has_one_action_and_the_rest_has_not():
    assert fires(NoExploration(), run_with([1.0] * 6 + [0.6] * 20)).where.update == 5


def test_quiet_when_both_actions_are_tried_at_first_and_one_wins_later():
    quiet(NoExploration(), run_with([0.55, 0.8] + [1.0] * 20))


def test_quiet_when_few_actions_differ_but_do():
    quiet(NoExploration(), run_with([0.97] * 20))


def test_quiet_when_single_episodes_go_on_for_long():
    quiet(NoExploration(), run_with([1.0] * 10, episodes=0))


def test_declines_when_each_reading_has_a_single_step():
    not_enough(NoExploration(), run_with([1.0] * 400, steps=1))


def test_declines_when_there_is_nothing_to_choose_from():
    not_enough(NoExploration(), run_with([1.0] * 10, actions=1))
    not_enough(NoExploration(), run_with([1.0] * 10, actions=None))
