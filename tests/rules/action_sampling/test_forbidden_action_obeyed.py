from rldebug.evidence.env_contract import EnvContract
from rldebug.rules.action_sampling.forbidden_action_obeyed import ForbiddenActionObeyed
from tests.judge import fires, not_enough, quiet


def test_fires_on_an_action_beyond_the_last():
    found = fires(ForbiddenActionObeyed(), EnvContract("e", action_space="Discrete(4)", accepted=("4",), accepted_of=1))
    assert "4 accepted" in found.seen


def test_quiet_when_it_is_refused_or_clipped():
    quiet(ForbiddenActionObeyed(), EnvContract("e", accepted_of=1))


def test_declines_where_it_was_not_tried():
    not_enough(ForbiddenActionObeyed(), EnvContract("e"))
