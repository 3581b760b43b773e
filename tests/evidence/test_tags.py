import pytest

from rldebug import catalogue
from rldebug.evidence.tags import TAGS, conventional, ours


def read(tag, value):
    return {each.ours: each.to_ours(value) for each in ours(tag)}


def write(name, value, convention):
    return {getattr(each, convention): each.from_ours(value) for each in conventional(name, convention)}


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("charts/episodic_return", "episode/return_mean"),
        ("rollout/ep_rew_mean", "episode/return_mean"),
        ("env_runners/episode_return_mean", "episode/return_mean"),
        ("training/returns_stat/mean", "episode/return_mean"),
        ("AverageEpRet", "episode/return_mean"),
        ("losses/td_loss", "loss/value"),
        ("train/actor_loss", "loss/policy"),
        ("time/fps", "pace/env_steps"),
        ("charts/SPS", "pace/env_steps"),
        ("losses/old_approx_kl", "policy/kl_k1"),
        ("train/clip_fraction", "policy/clip_fraction"),
        ("rollout/exploration_rate", "exploration/epsilon"),
        ("policy/kl", "policy/kl"),
    ],
)
def test_a_tag_is_known_whatever_its_case_and_whatever_stands_before_it(tag, name):
    for spelt in (tag, tag.upper(), f"PPO_1/{tag}", f"/{tag}/"):
        assert read(spelt, 0.25) == {name: 0.25}


def test_entropy_has_a_minus_where_it_is_a_loss():
    assert read("train/entropy_loss", -0.7) == {"policy/entropy": 0.7}
    assert read("losses/entropy", 0.7) == read("policy/entropy", 0.7) == {"policy/entropy": 0.7}
    assert write("policy/entropy", 0.7, "sb3") == {"train/entropy_loss": -0.7}
    assert write("policy/entropy", 0.7, "cleanrl") == {"losses/entropy": 0.7}


def test_explained_variance_is_the_other_part():
    assert (
        read("train/explained_variance", 0.75)
        == read("losses/explained_variance", 0.75)
        == {"value/residual_var": 0.25}
    )
    assert read("value/residual_var", 0.25) == {"value/residual_var": 0.25}
    assert write("value/residual_var", 0.25, "cleanrl") == {"losses/explained_variance": 0.75}
    assert write("value/residual_var", 0.25, "sb3") == {"train/explained_variance": 0.75}


@pytest.mark.parametrize(
    "tag",
    ["eval/mean_reward", "test/reward", "evaluation/episode_return_mean", "encoder/loss", "train/loss_entropy", "",
     "smoothed/policy/kl"],
)  # fmt: skip
def test_what_means_something_else_is_not_taken(tag):
    assert ours(tag) == []


def test_a_tag_stands_for_one_reading_and_comes_back_as_it_was():
    for tag in TAGS:
        for spelling in tag.spellings:
            assert ours(spelling) == [tag], spelling
        for value in (-3.0, 0.0, 0.125, 7.0):
            assert tag.to_ours(tag.from_ours(value)) == value


def test_a_convention_has_a_tag_once():
    for convention in ("cleanrl", "sb3"):
        names = [each for tag in TAGS if (each := getattr(tag, convention)) is not None]
        assert len(names) == len(set(names))


def test_readings_in_the_table_are_those_that_are_recorded():
    known = {name for each in catalogue.metrics() for name in each.names}
    for tag in TAGS:
        assert tag.ours in known or tag.ours.startswith("loss/")
