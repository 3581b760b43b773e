import pytest

from tests.healthy.sound import assert_nothing_found


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_ppo_on_cart_pole(seed, tmp_path):
    assert_nothing_found("ppo_discrete", tmp_path, seed=seed, updates=24, rise=50)


@pytest.mark.parametrize("seed", [0, 1])
def test_ppo_on_acrobot(seed, tmp_path):
    assert_nothing_found("ppo_discrete", tmp_path, env_id="Acrobot-v1", seed=seed, updates=32, rise=50)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ppo_on_pendulum(seed, tmp_path):
    assert_nothing_found("ppo_continuous", tmp_path, seed=seed, updates=12, rise=100)
