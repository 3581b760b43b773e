import pytest

from rldebug.evidence.foreign.known import ends_with, may_be_off_policy


@pytest.mark.parametrize("tag", ["episodic_return", "charts/episodic_return", "/ppo/Charts/Episodic_Return/"])
def test_a_name_with_something_before_it(tag):
    assert ends_with(tag, ("episodic_return",))


def test_a_part_of_a_name_is_another():
    assert not ends_with("charts/avg_episodic_return", ("episodic_return",))


@pytest.mark.parametrize(
    ("tags", "values_learned"),
    [
        (["losses/policy_loss", "losses/value_loss", "losses/entropy"], False),
        (["train/policy_gradient_loss", "train/entropy_loss", "train/clip_range"], False),
        (["losses/td_loss", "losses/q_values"], True),
        (["train/actor_loss", "train/critic_loss", "train/ent_coef"], True),
        (["losses/qf1_loss", "losses/alpha"], True),
        (["rollout/ep_rew_mean", "train/loss", "rollout/exploration_rate"], True),
        (["episodic_return", "episodic_length"], True),
    ],
)
def test_whether_action_values_are_learned(tags, values_learned):
    assert may_be_off_policy(tags) is values_learned
