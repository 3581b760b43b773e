from rldebug.evidence.run import Run
from rldebug.rules.discounting.targets_blow_up import TargetsBlowUp
from tests.judge import fires, not_enough, quiet

N = 60
REWARDS = {"replay/reward_min": [-1.0] * N, "replay/reward_max": [0.0] * N}


def run(size, rewards=REWARDS, gamma=0.99):
    return Run.from_series(
        {"target/min": [-each for each in size], "target/max": [0.0] * len(size), **rewards}, meta={"gamma": gamma}
    )


def test_fires_when_targets_grow_exponentially():
    finding = fires(TargetsBlowUp(), run([1.3**i for i in range(N)]))
    assert finding.where.update is not None
    assert "100" in finding.expected


def test_fires_without_a_discount_beside_episode_returns():
    returns = {"episode/return_min": [-200.0] * N, "episode/return_max": [-150.0] * N}
    fires(TargetsBlowUp(), run([1.3**i for i in range(N)], rewards=returns, gamma=None))


def test_quiet_when_targets_grow_to_what_rewards_allow():
    quiet(TargetsBlowUp(), run([1.0 + 99.0 * i / N for i in range(N)]))


def test_quiet_when_targets_overshoot_and_come_back():
    quiet(TargetsBlowUp(), run([1.0] * 5 + [3000.0] * 20 + [100.0] * 35))


def test_quiet_when_rewards_are_scaled_up_and_targets_level_out():
    quiet(TargetsBlowUp(), run([10.0 * i for i in range(1, 20)] + [50000.0] * 41))


def test_declines_while_no_reward_was_seen():
    not_enough(TargetsBlowUp(), run([1.3**i for i in range(N)], rewards={}))


def test_declines_on_a_handful_of_readings():
    not_enough(TargetsBlowUp(), run([10.0**i for i in range(8)]))
