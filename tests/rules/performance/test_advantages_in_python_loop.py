from __future__ import annotations

import pytest

from rldebug.evidence.timing import Measured
from rldebug.rules.performance.advantages_in_python_loop import AdvantagesInPythonLoop
from tests.judge import quiet
from tests.rules.timings import NETWORK, by_line, on, points_at_line, timing, yardstick

ROLLOUT = {"part": "advantages", "before": "step", "after": "backward"}
GAE = yardstick(Measured("returns", "rldebug.parts.returns.gae, 2048 × 1", 1.3e-5))

ON_TENSORS = """
    import torch

    for iteration in range(100):
        for step in range(128):
            obs, reward, done, _, _ = envs.step(act(obs))
        with torch.no_grad():
            advantages = torch.zeros_like(rewards)
            last = 0
            for t in reversed(range(128)):
                if t == 127:
                    following = bootstrap
                else:
                    following = values[t + 1]
                delta = rewards[t] + gamma * following * (1 - dones[t]) - values[t]  # delta
                advantages[t] = last = delta + gamma * lam * (1 - dones[t]) * last  # here
            returns = advantages + values  # whole
        loss(returns).backward()
"""

REINFORCE = """
    import torch

    def finish():
        R, out = 0, []
        for r in agent.rewards[::-1]:
            R = r + 0.99 * R
            out.insert(0, R)  # here
        return torch.tensor(out)

    while True:
        play(env.step)
        (logs * finish()).sum().backward()
"""

IN_ARRAYS = """
    def advantages(deltas, length):
        adv = [0.0] * (length + 1)
        t = length - 1
        while t >= 0:
            if dones[t]:
                adv[t + 1] = 0.0
            adv[t] = deltas[t] + 0.95 * adv[t + 1]  # here
            t -= 1
        return adv

    for update in range(100):
        collect(env)
        learn(advantages(deltas, 2048))
"""

TO_GO = """
    import numpy as np

    def to_go(rewards):
        return [np.sum(rewards[t:]) for t in range(len(rewards))]  # here

    for update in range(100):
        collect(env)
        learn(to_go(rewards))
"""

NESTED = """
    for update in range(100):
        collect(env.step)
        for t in range(len(rewards)):
            G, discount = 0.0, 1.0
            for k in range(t, len(rewards)):
                G += discount * rewards[k]
                discount *= gamma  # here
            returns.append(G)
        learn(returns).backward()
"""


@pytest.mark.parametrize("code", [ON_TENSORS, REINFORCE, IN_ARRAYS, TO_GO, NESTED])
def test_fires_where_each_step_is_a_round_in_python(code):
    finding = points_at_line(AdvantagesInPythonLoop(), timing(code, [on("here", 2.0, **ROLLOUT)]), "here")
    assert finding.speedup == pytest.approx(10 / 8.2)
    assert finding.severity == "warning"


def test_fires_with_what_it_could_take_here():
    made = timing(ON_TENSORS, [on("here", 0.6, **ROLLOUT), on("delta", 0.3, **ROLLOUT)], phases=75, yardstick=GAE)
    finding = points_at_line(AdvantagesInPythonLoop(), made, "here")
    assert finding.seen == "12 ms per rollout in a Python loop, 9 % of the run"
    assert finding.expected == "rldebug.parts.returns.gae, 2048 × 1: 0.013 ms on this machine"
    assert finding.speedup == pytest.approx(10 / (9.1 + 75 * 1.3e-5))
    assert finding.severity == "note"


def test_fires_on_sums_of_all_later_rewards():
    finding = points_at_line(AdvantagesInPythonLoop(), timing(TO_GO, [on("here", 2.0, **ROLLOUT)]), "here")
    assert "anew" in finding.message


def test_quiet_where_it_takes_little():
    quiet(AdvantagesInPythonLoop(), timing(ON_TENSORS, [on("here", 0.4, **ROLLOUT)]))


def test_quiet_where_the_loop_is_as_fast_as_it_gets():
    quick = yardstick(Measured("returns", "rldebug.parts.returns.gae, 8 × 4096", 0.2))
    quiet(AdvantagesInPythonLoop(), timing(ON_TENSORS, [on("here", 2.0, **ROLLOUT)], phases=10, yardstick=quick))


def test_quiet_about_whole_arrays_in_the_loop_that_trains():
    quiet(AdvantagesInPythonLoop(), timing(ON_TENSORS, [on("whole", 2.0, **ROLLOUT)]))


WHOLE = """
    import numpy as np
    from scipy.signal import lfilter

    total = 0.0
    for update in range(100):
        total = 0.9 * total + 0.1 * collect(env)  # collected
        start = 0
        for length in lengths:
            advantages[start : start + length] = lfilter([1], [1, -0.95], deltas[start : start + length])  # here
            start = start + length
        learn(advantages)
"""


def test_quiet_about_one_filter_per_episode():
    simulator = on("collected", 1.0, part="simulator", inside=True)  # tells the loop over updates from others
    quiet(AdvantagesInPythonLoop(), timing(WHOLE, [on("here", 2.0, **ROLLOUT), simulator]))


EPOCHS = """
    for update in range(100):
        collect(env.step)
        smooth = 0.0
        for epoch in range(10):
            for batch in shuffled(data):
                prepared = prepare(batch)  # here
                loss = lossy(prepared)
                loss.backward()
                smooth = 0.9 * smooth + 0.1 * loss.item()
"""


def test_quiet_about_loops_over_minibatches():
    quiet(AdvantagesInPythonLoop(), timing(EPOCHS, [on("here", 2.0, **ROLLOUT)]))


RECURRENT = """
    for update in range(100):
        collect(env.step)
        for t in reversed(range(16)):
            state = 0.5 * state + encoder(obs[t], state)  # here
        learn(state).backward()
"""


def test_quiet_about_networks_that_are_unrolled():
    quiet(AdvantagesInPythonLoop(), timing(RECURRENT, [on("here", 2.0, below=[NETWORK], **ROLLOUT)]))


def test_quiet_about_the_same_loop_at_every_step():
    quiet(AdvantagesInPythonLoop(), timing(IN_ARRAYS, [on("here", 2.0, part="other", before="step", after="step")]))


@pytest.mark.parametrize("code", [ON_TENSORS, REINFORCE, IN_ARRAYS, NESTED])
def test_fires_where_only_the_line_is_known(code):
    points_at_line(AdvantagesInPythonLoop(), by_line(timing(code, [on("here", 2.0, **ROLLOUT)])), "here")
