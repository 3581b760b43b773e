from rldebug.rules.buffer.old_data_outweighs_new import OldDataOutweighsNew
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_a_replay_does_not_forget():
    found = fires(
        OldDataOutweighsNew(),
        ladder(passed("observed-action-reward"), chances("shifting-reward", [0.0, 1.0], [1.0, 0.0]), lam=None),
    )
    assert "rung 32" in found.seen


def test_quiet_where_it_is_undecided():
    quiet(
        OldDataOutweighsNew(),
        ladder(
            passed("observed-action-reward"),
            chances("shifting-reward", [0.0, 1.0], [1.0, 0.0], outcome="undecided"),
            lam=None,
        ),
    )
