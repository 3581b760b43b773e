from rldebug.rules.action_sampling.action_parts_mixed_up import ActionPartsMixedUp
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_pairs_are_not_learned():
    found = fires(
        ActionPartsMixedUp(),
        ladder(
            passed("observed-action-reward"), chances("multi-discrete-action", [1 / 6] * 6, [1 / 6] * 6, [1 / 6] * 6)
        ),
    )
    assert "17% for first" in found.seen


def test_quiet_where_it_does_not_apply():
    quiet(
        ActionPartsMixedUp(),
        ladder(
            passed("observed-action-reward"),
            chances("multi-discrete-action", [1 / 6] * 6, [1 / 6] * 6, [1 / 6] * 6, outcome="not applicable"),
        ),
    )
