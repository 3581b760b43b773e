from rldebug.rules.value_loss.value_learned_with_opposite_sign import ValueLearnedWithOppositeSign
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, passed, values


def test_fires_on_the_answer_times_minus_one():
    found = fires(
        ValueLearnedWithOppositeSign(),
        ladder(passed("constant-reward"), values("observed-reward", [-1.0, 1.0], matched=["sign-flipped"])),
    )
    assert "good -1.00" in found.seen


def test_quiet_on_the_mean():
    quiet(
        ValueLearnedWithOppositeSign(),
        ladder(
            passed("constant-reward"), values("observed-reward", [0.0, 0.0], matched=["same-for-all", "sign-flipped"])
        ),
    )
