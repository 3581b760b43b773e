import pytest

from tests.healthy.sound import assert_nothing_found


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a2c_on_cart_pole(seed, tmp_path):
    assert_nothing_found("a2c", tmp_path, seed=seed, updates=350, rise=50)


def test_a2c_on_acrobot(tmp_path):
    assert_nothing_found("a2c", tmp_path, env_id="Acrobot-v1", updates=350, rise=10)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_reinforce_on_cart_pole(seed, tmp_path):
    assert_nothing_found("reinforce", tmp_path, seed=seed, updates=70, rise=20)


def test_reinforce_with_every_update_recorded(tmp_path):
    assert_nothing_found("reinforce", tmp_path, seed=4, updates=60, rise=10, schedule={"every": 1, "detail": 1})


@pytest.mark.parametrize("seed", [0, 1])
def test_trpo_on_cart_pole(seed, tmp_path):
    assert_nothing_found("trpo", tmp_path, seed=seed, updates=20, rise=50)
