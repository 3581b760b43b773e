from tests.programs.policies import ppo
from tests.watched import findings

CODE = "NET520"


def test_fires_as_the_root_where_the_network_itself_ends_in_a_softmax():
    given = {each.code: each for each in findings(lambda: ppo("softmax in the network"), CODE, "ACT322")}
    assert given[CODE].component == "network"
    assert given[CODE].follows == ()
    assert given["ACT322"].follows == (CODE,)


def test_quiet_where_the_first_softmax_is_outside():
    assert not findings(lambda: ppo("softmax twice"), CODE)


def test_quiet_where_probabilities_are_taken_for_what_they_are():
    assert not findings(lambda: ppo("probabilities from the network"), CODE, "ACT322")


def test_quiet_where_logits_are_logits():
    assert not findings(ppo, CODE)
