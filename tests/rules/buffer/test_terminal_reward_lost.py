from rldebug.rules.buffer.terminal_reward_lost import TerminalRewardLost
from tests.programs.formulas import found
from tests.programs.value_learners import learned


def test_fires_where_the_mask_is_on_the_reward_too():
    (finding,) = found(TerminalRewardLost(), learned("reward-masked", "rooms"))
    assert finding.component == "buffer"
    assert "terminated steps" in finding.seen


def test_quiet_where_the_last_step_is_paid():
    assert not found(TerminalRewardLost(), learned(world="rooms"))
