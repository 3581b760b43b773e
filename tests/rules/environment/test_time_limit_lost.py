from rldebug.evidence.env_contract import EnvContract, Layer
from rldebug.rules.environment.time_limit_lost import TimeLimitLost
from tests.judge import fires, not_enough, quiet


def test_fires_when_an_episode_runs_past_the_limit():
    found = fires(
        TimeLimitLost(), EnvContract("e", limit=200, longest=1500, layers=(Layer("Scaled"), Layer("Pendulum")))
    )
    assert "1500" in found.seen
    assert "200" in found.expected


def test_quiet_when_it_is_kept():
    quiet(TimeLimitLost(), EnvContract("e", limit=200, longest=200, layers=(Layer("Pendulum"),)))


def test_quiet_when_a_longer_limit_was_asked_for():
    quiet(
        TimeLimitLost(),
        EnvContract("e", limit=200, longest=500, layers=(Layer("T", roles=frozenset({"limits time"})),)),
    )


def test_declines_without_a_registered_limit():
    not_enough(TimeLimitLost(), EnvContract("e", longest=1500))
