"""How a target network follows: whole copies are told from mixtures that were made by hand and loaded."""

from tests.programs.targets import seen

from rldebug.forensics.followers import followers


def test_each_load_of_the_weights_of_the_other_is_a_whole_copy():
    (each,) = followers(seen("q_learner", "every update"))
    assert each.whole == each.loaded == each.steps


def test_a_mixture_that_is_loaded_is_no_whole_copy():
    (each,) = followers(seen("q_learner", "mixture loaded"))
    assert each.loaded == each.steps
    assert each.whole == 0
