from rldebug.evidence.run import Run
from rldebug.rules.environment.return_never_varies import ReturnNeverVaries
from tests.judge import fires, not_enough, quiet


def episodes(low, high, short, long, count=10.0, **more):
    return {
        "episode/count": [count] * 5,
        "episode/return_min": [low] * 5,
        "episode/return_max": [high] * 5,
        "episode/length_min": [short] * 5,
        "episode/length_max": [long] * 5,
        "env/action_mode_share": [0.52] * 5,
        **more,
    }


def test_fires_when_return_and_length_are_always_the_same():
    found = fires(ReturnNeverVaries(), Run.from_series(episodes(8.0, 8.0, 8.0, 8.0)))
    assert "8 steps" in found.seen


def test_fires_when_all_are_cut_off_and_says_so():
    run = Run.from_series(episodes(8.0, 8.0, 8.0, 8.0, **{"episode/truncated": [10.0] * 5}))
    assert "cut off after 8 steps" in fires(ReturnNeverVaries(), run).help


def test_fires_when_actions_are_continuous():
    more = {"env/action_mode_share": [], "action/std": [0.5] * 5}
    fires(ReturnNeverVaries(), Run.from_series(episodes(8.0, 8.0, 8.0, 8.0, **more)))


def test_quiet_when_the_length_is_the_limit_but_returns_differ():
    quiet(ReturnNeverVaries(), Run.from_series(episodes(-1500.0, -900.0, 200.0, 200.0)))


def test_quiet_when_the_task_was_solved_later_on():
    run = episodes(500.0, 500.0, 500.0, 500.0)
    run["episode/return_min"] = [12.0, 80.0, 500.0, 500.0, 500.0]
    quiet(ReturnNeverVaries(), Run.from_series(run))


def test_quiet_when_the_agent_always_does_the_same():
    run = episodes(8.0, 8.0, 8.0, 8.0, **{"env/action_mode_share": [1.0] * 5})
    quiet(ReturnNeverVaries(), Run.from_series(run))


def test_quiet_when_it_is_a_bandit_with_a_constant_reward():
    quiet(ReturnNeverVaries(), Run.from_series(episodes(1.0, 1.0, 1.0, 1.0)))


def test_declines_on_a_few_episodes():
    not_enough(ReturnNeverVaries(), Run.from_series(episodes(8.0, 8.0, 8.0, 8.0, count=1.0)))
