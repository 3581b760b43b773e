from __future__ import annotations

import pytest

from rldebug.evidence.timing import Held, Measured
from rldebug.rules.performance.gradients_kept_while_acting import GradientsKeptWhileActing
from tests.judge import quiet
from tests.rules.timings import NETWORK, on, points_at_line, timing, yardstick

ACTING = {"part": "acting", "before": "step", "after": "step", "below": [NETWORK]}
LOSS = {"part": "loss", "before": "update", "after": "backward", "below": [NETWORK]}
HERE = yardstick(Measured("acting", "forward of 4-64-64-2, batch of 1", 4e-5, 6e-5, {"1": 4e-5, "1_grad": 6e-5}))

PPO = """
    import torch

    for update in range(10):
        for t in range(1000):
            logits = policy(obs)  # acts
            action = torch.distributions.Categorical(logits=logits).sample()  # samples
            obs, reward, done, _, _ = env.step(action.item())
            rows.append((obs, action))
        loss = surrogate(policy(batch(rows)))  # learns
        loss.backward()
"""


def test_fires_where_the_loss_calls_the_network_again():
    made = timing(
        PPO, [on("acts", 3.0, called="policy", **ACTING), on("learns", 0.2, called="policy", **LOSS)], yardstick=HERE
    )
    finding = points_at_line(GradientsKeptWhileActing(), made, "acts")
    assert finding.speedup == pytest.approx(10 / 9)
    assert finding.seen == "0.3 ms per step to choose actions, with gradients on; 30 % of the run"
    assert "0.04 ms without gradients, 0.06 ms with them" in finding.expected


def test_fires_on_what_is_made_of_the_output_as_well():
    sampled = on("samples", 2.0, part="acting", before="step", after="step")
    acts, learns = on("acts", 3.0, called="policy", **ACTING), on("learns", 0.2, called="policy", **LOSS)
    made = timing(PPO, [acts, learns, sampled], yardstick=HERE)
    assert points_at_line(GradientsKeptWhileActing(), made, "acts").speedup == pytest.approx(10 / 8.8)


def test_quiet_where_most_networks_act_without():
    acts = [on("acts", 3.0, called="policy", **ACTING), on("acts", 2.0, called="policy", grad=False, **ACTING)]
    made = timing(PPO, [*acts, on("learns", 0.2, called="policy", **LOSS)], yardstick=HERE)
    quiet(GradientsKeptWhileActing(), made)


def test_fires_without_a_measurement():
    made = timing(PPO, [on("acts", 4.0, called="policy", **ACTING), on("learns", 0.2, called="policy", **LOSS)])
    assert points_at_line(GradientsKeptWhileActing(), made, "acts").speedup == pytest.approx(10 / 9.4)


SHARED = """
    def policy(obs):
        return actor(obs).rsample()  # asks

    for t in range(1000):
        action = policy(obs).detach()  # acts
        obs, reward, done, _, _ = env.step(action)
        loss = -critic(batch, policy(batch)).mean()  # learns
        loss.backward()
"""


def test_fires_where_acting_and_learning_share_a_function():
    acts = on("asks", 4.0, called="actor", via=["acts"], **ACTING)
    learns = on("asks", 1.0, called="actor", via=["learns"], **LOSS)
    points_at_line(GradientsKeptWhileActing(), timing(SHARED, [acts, learns]), "asks")


def test_fires_where_the_last_output_has_a_name():
    held = (Held("logits", at=(1.0,), items=(1,), graphs=1),)
    parts = [on("acts", 4.0, called="policy", **ACTING), on("learns", 0.2, called="policy", **LOSS)]
    points_at_line(GradientsKeptWhileActing(), timing(PPO, parts, yardstick=HERE, held=held), "acts")


def test_quiet_without_gradients():
    made = timing(
        PPO,
        [on("acts", 3.0, called="policy", grad=False, **ACTING), on("learns", 0.2, called="policy", **LOSS)],
        yardstick=HERE,
    )
    quiet(GradientsKeptWhileActing(), made)


def test_quiet_where_acting_takes_little():
    quiet(
        GradientsKeptWhileActing(),
        timing(
            PPO,
            [on("acts", 0.6, called="policy", **ACTING), on("learns", 0.2, called="policy", **LOSS)],
            yardstick=HERE,
        ),
    )


def test_quiet_where_gradients_cost_nothing():
    same = yardstick(Measured("acting", "forward of a large network", 1e-3, 1.01e-3, {}))
    quiet(
        GradientsKeptWhileActing(),
        timing(
            PPO,
            [on("acts", 4.0, called="policy", **ACTING), on("learns", 0.2, called="policy", **LOSS)],
            yardstick=same,
        ),
    )


def test_quiet_where_the_loss_calls_no_network():
    """REINFORCE: what was kept while acting is what is learned from."""
    quiet(GradientsKeptWhileActing(), timing(PPO, [on("acts", 4.0, called="policy", **ACTING)], yardstick=HERE))


WITH_BASELINE = """
    import torch

    for episode in range(10):
        logs = []
        for t in range(1000):
            logits = policy(obs)  # acts
            chosen = torch.distributions.Categorical(logits=logits)
            action = chosen.sample()
            logs.append(chosen.log_prob(action))
            obs, reward, done, _, _ = env.step(action.item())
        values = critic(states)  # learns
        loss = -(torch.stack(logs) * (returns - values.detach())).sum() + (returns - values).pow(2).mean()
        loss.backward()
"""


def test_quiet_where_log_probabilities_are_learned_from():
    made = timing(
        WITH_BASELINE,
        [on("acts", 4.0, called="policy", **ACTING), on("learns", 2.0, called="critic", **LOSS)],
        yardstick=HERE,
    )
    quiet(GradientsKeptWhileActing(), made)


def test_quiet_where_the_same_network_is_asked_for_values_as_well():
    """One network with two heads: what it said while acting is learned from all the same."""
    code = WITH_BASELINE.replace("critic(states)", "policy(states)")
    acts, learns = on("acts", 4.0, called="policy", **ACTING), on("learns", 2.0, called="policy", **LOSS)
    quiet(GradientsKeptWhileActing(), timing(code, [acts, learns], yardstick=HERE))


def test_quiet_where_graphs_are_held():
    held = (Held("agent.log_probs", at=(1.0,), items=(200,), graphs=200),)
    made = timing(
        PPO,
        [on("acts", 4.0, called="policy", **ACTING), on("learns", 0.2, called="policy", **LOSS)],
        yardstick=HERE,
        held=held,
    )
    quiet(GradientsKeptWhileActing(), made)


SCORED = """
    def score(mean, action):
        return -((action - mean) ** 2)

    def rollout():
        scores = []
        for t in range(1000):
            mean = policy(obs)  # acts
            action = (mean + noise()).detach()
            scores.append(score(mean, action)KEPT)
            obs, reward, done, _, _ = env.step(action)
        return scores

    while True:
        scores = rollout()
        loss = (score(policy(batch), actions) - torch.stack(scores)).mean()  # learns
        loss.backward()
"""


def test_fires_where_both_call_a_function_that_is_given_the_output():
    code = SCORED.replace("KEPT", ".detach()")
    acts, learns = on("acts", 4.0, called="policy", **ACTING), on("learns", 0.2, called="policy", **LOSS)
    points_at_line(GradientsKeptWhileActing(), timing(code, [acts, learns]), "acts")


def test_quiet_where_that_function_is_learned_through():
    code = SCORED.replace("KEPT", "")
    acts, learns = on("acts", 4.0, called="policy", **ACTING), on("learns", 0.2, called="policy", **LOSS)
    quiet(GradientsKeptWhileActing(), timing(code, [acts, learns]))
