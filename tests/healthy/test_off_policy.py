import pytest

from tests.healthy.sound import assert_nothing_found


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_dqn_on_cart_pole(seed, tmp_path):
    assert_nothing_found("dqn", tmp_path, seed=seed, updates=1600, rise=40)


def test_dqn_on_acrobot(tmp_path):
    assert_nothing_found("dqn", tmp_path, env_id="Acrobot-v1", updates=1600, rise=None)


@pytest.mark.parametrize(("seed", "updates", "rise"), [(0, 1400, 200), (3, 700, None)])
def test_sac_on_pendulum(seed, updates, rise, tmp_path):
    assert_nothing_found("sac_like", tmp_path, seed=seed, updates=updates, rise=rise)
