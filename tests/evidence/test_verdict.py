from __future__ import annotations

import pytest

from rldebug.evidence.verdict import comparable, same, verdict
from tests.evidence.beside import compared


@pytest.mark.parametrize(
    ("algorithm", "script", "said"),
    [
        ("ppo", "gamma = 0.9", "horizon 10 steps, not 100: rewards further off hardly count"),
        ("ppo", "gamma = 0.98", "horizon 50 steps, not 100"),
        ("ppo", "gamma = 0.9999", "horizon 10 000 steps, not 100: values are larger, and slower to learn"),
        ("ppo", "gamma = 1.0", "1 % higher: no discount: values of long episodes grow without bound"),
        ("ppo", "lam = 1", "λ = 1: sampled returns alone, the critic only as baseline; noisy"),
        ("ppo", "lam = 0.9", "weighs 10 steps, not 20"),
        ("ppo", "lr = 2.5e-3", "10× higher: steps this large often destroy a policy"),
        ("ppo", "lr = 5e-4", "2× higher"),
        ("ppo", "lr = 2e-4", "20 % lower"),
        ("ppo", "lr = 2.5e-6", "100× lower: learns slowly"),
        ("ppo", "clip = 0.0", "lower: the policy can hardly move"),
        ("ppo", "clip = 0.5", "2.5× higher: hardly clips; the policy may jump"),
        ("ppo", "clip = 0.1", "2× lower"),
        ("ppo", "epochs = 1", "4× lower: every sample is used once; clipping hardly acts"),
        ("ppo", "ent_coef = 0", "off here: nothing keeps the policy from settling early"),
        ("ppo", "max_grad_norm = None", "off here: one bad batch can take a huge step"),
        ("ppo", "norm_adv = False", "off here: step sizes then depend on the scale of rewards"),
        ("ppo", "hidden_sizes = [256] * 2", "differs"),
        ("dqn", "buffer_size = int(1e4)", "10× lower: forgets soon, and samples are alike"),
        ("dqn", "target_update = 1", "250× lower: without averaging, as good as no target network"),
        ("dqn", "target_update = 500", "2× higher: mind the unit (env steps, updates, episodes)"),
        ("dqn", "eps_end = 0.3", "6× higher: stays that random to the end"),
        ("sac", "tau = 1.0", "200× higher: copied outright: no target network if done at every update"),
        ("sac", "alpha = 0.0", "lower: no entropy bonus: exploration dies out"),
        ("trpo", "max_kl = 0.1", "10× higher: steps leave the region where the estimate holds"),
        ("trpo", "cg_iters = 2", "5× lower: the direction is far from the natural gradient"),
    ],
)
def test_verdicts(algorithm, script, said):
    [row] = compared(algorithm, script).rows
    assert row.verdict == said
    assert not row.same


@pytest.mark.parametrize(
    ("yours", "ours", "expected"),
    [
        (1, 1.0, True),
        (0.1 + 0.2, 0.3, True),
        (64, (64, 64), True),
        (64, (), False),
        ([64, 64], (64, 64), True),
        ([64], (64, 64), False),
        ("Tanh", "tanh", True),
        (True, 1, False),
        (None, None, True),
        (None, 0, False),
    ],
)
def test_same(yours, ours, expected):
    assert same(yours, ours) is expected
    assert (verdict("=any", yours, ours) == "same") is expected


def test_comparable():
    assert comparable("discount", 0.9, 1)
    assert not comparable("discount", "high", 0.9)
    assert not comparable("anneal_lr", 0.5, True)
    assert comparable("hidden", 64, (64, 64))
    assert not comparable("lr", 64, (64, 64))
    assert comparable("max_grad_norm", None, 0.5)
    assert not comparable("lr", None, 0.5)


@pytest.mark.parametrize(
    ("concept", "yours", "ours", "said"),
    [
        ("max_kl", 0.01, None, "on here, off in the reference"),
        ("double", True, False, "on here"),
        ("lr", 1.0, 1e-6, "1e+06× higher"),
        ("activation", "relu", "tanh", "differs"),
    ],
)
def test_further_verdicts(concept, yours, ours, said):
    assert verdict(concept, yours, ours).partition(":")[0] == said
