from rldebug.evidence.env_play import EnvPlay, Foretold, Rewards
from rldebug.rules.environment.coming_reward_observed import ComingRewardObserved
from tests.judge import fires, not_enough, quiet


def played(ratios=(("0", -1.0), ("1", 1.0)), exogenous=True, distinct=900):
    told = Foretold("obs[3]", ratios, share=1.0, steps=4000, distinct=distinct, exogenous=exogenous)
    return EnvPlay("x", foretold=(told,), rewards=Rewards(steps=4000))


def test_fires_when_a_series_shows_the_next_reward():
    found = fires(ComingRewardObserved(), played())
    assert "obs[3]" in found.seen
    assert found.severity == "warning"


def test_fires_as_a_note_where_it_may_be_a_bandit():
    assert fires(ComingRewardObserved(), played(exogenous=False)).severity == "note"


def test_fires_for_a_continuous_action():
    assert "2 × action" in fires(ComingRewardObserved(), played((("× action", 2.0),))).seen


def test_quiet_when_the_reward_is_that_of_the_old_state():
    quiet(ComingRewardObserved(), played((("0", 1.0), ("1", 1.0))))


def test_quiet_when_the_element_has_a_few_values():
    quiet(ComingRewardObserved(), played(distinct=2))


def test_declines_where_nothing_was_played():
    not_enough(ComingRewardObserved(), EnvPlay("x"))
