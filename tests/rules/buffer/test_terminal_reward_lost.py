from dataclasses import replace

import numpy as np

from rldebug.rules.buffer.terminal_reward_lost import TerminalRewardLost
from tests.forensics.simulated import gae
from tests.programs.formulas import found, on_policy
from tests.programs.value_learners import learned


def test_fires_where_the_mask_is_on_the_reward_too():
    (finding,) = found(TerminalRewardLost(), learned("reward-masked", "rooms"))
    assert finding.component == "buffer"
    assert "terminated steps" in finding.seen


def test_quiet_where_the_last_step_is_paid():
    assert not found(TerminalRewardLost(), learned(world="rooms"))


def test_fires_where_a_critic_never_learns_of_the_last_reward():
    lost = on_policy(lambda of: gae(replace(of, reward=np.where(of.terminated, 0.0, of.reward))))
    (finding,) = found(TerminalRewardLost(), lost)
    assert "terminated steps" in finding.seen


def test_quiet_where_a_critic_learns_of_it():
    assert not found(TerminalRewardLost(), on_policy(gae))
