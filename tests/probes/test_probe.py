"""The solver beside slow twins: what comes out when one plays, or tries everything."""

import itertools

import numpy as np
import pytest

from rldebug.probes.environment import ProbeEnv
from rldebug.probes.probe import Outcome, Probe
from rldebug.probes.shelf import find, probes

GAMMA = 0.8
HORIZON = 50
CHOICES = [each for each in probes() if each.range is None]
VALUES = [each for each in probes() if each.asks == "value"]
BRANCHING = [
    each for each in CHOICES if len(each().looks) == len(each.states) and each.actions ** len(each.states) <= 1024
]


def ids(kind):
    return kind.name


def play(probe, rng, state, *, choose):
    """Rewards and looks of one episode, by the table alone: nothing is ever cut off."""
    looks, rewards = [], []
    for _ in range(HORIZON):
        outcomes = probe.outcomes(state, choose(state))
        happened = outcomes[int(rng.choice(len(outcomes), p=[each.probability for each in outcomes]))]
        looks.append(probe.looks.index(probe.look(state)))
        rewards.append(happened.reward)
        if happened.next is None:
            break
        state = happened.next
    return looks, rewards


@pytest.mark.parametrize("kind", CHOICES, ids=ids)
def test_values_of_acting_at_random_are_the_mean_of_what_is_played(kind):
    probe, rng = kind(GAMMA), np.random.default_rng(0)
    begin = probe.begin()
    sums, counts = np.zeros(len(probe.looks)), np.zeros(len(probe.looks))
    squares = np.zeros(len(probe.looks))
    for _ in range(400):
        first = str(rng.choice(list(begin), p=list(begin.values())))
        looks, rewards = play(probe, rng, first, choose=lambda _: int(rng.integers(kind.actions)))
        ahead = 0.0
        for t in reversed(range(len(looks))):
            ahead = rewards[t] + GAMMA * ahead
            if t == 0 or len(looks) < HORIZON:  # of an episode without end only the first step knows enough
                sums[looks[t]] += ahead
                squares[looks[t]] += ahead**2
                counts[looks[t]] += 1
    even = np.full((len(probe.looks), kind.actions), 1 / kind.actions)
    solved = probe.evaluate(even)
    for look in np.flatnonzero(counts >= 20):
        mean = sums[look] / counts[look]
        error = np.sqrt(max(squares[look] / counts[look] - mean**2, 0.0) / counts[look])
        assert mean == pytest.approx(solved[look], abs=4.5 * error + 1e-4), probe.looks[look]


@pytest.mark.parametrize("kind", BRANCHING, ids=ids)
def test_no_policy_is_better_than_the_solved_one(kind):
    probe = kind(GAMMA)
    best = np.full(len(probe.states), -np.inf)
    for chosen in itertools.product(range(kind.actions), repeat=len(probe.states)):
        value = np.zeros(len(probe.states))
        for _ in range(120):
            value = np.array(
                [
                    sum(
                        each.probability
                        * (each.reward + (GAMMA * value[probe.states.index(each.next)] if each.next else 0.0))
                        for each in probe.outcomes(state, action)
                    )
                    for state, action in zip(probe.states, chosen, strict=True)
                ]
            )
        best = np.maximum(best, value)
    np.testing.assert_allclose(probe.solve().value, best, atol=1e-6)


@pytest.mark.parametrize("kind", VALUES, ids=ids)
def test_where_values_are_asked_actions_make_no_difference(kind):
    q = kind(GAMMA).solve().q
    np.testing.assert_allclose(q, q[:, :1].repeat(q.shape[1], axis=1), atol=1e-9)


# ── the answers of known mistakes, beside a table that makes them ──


def learned(kind, mistake, *, envs=1, steps=4000):
    """What TD(0) makes of it with a mistake; its steps get smaller and smaller."""
    probe = kind(GAMMA)
    made = [ProbeEnv(probe, index=i) for i in range(envs)]
    value, seen = np.zeros(len(probe.looks)), np.zeros(len(probe.looks))
    now = [int(np.argmax(each.reset(seed=i)[0])) for i, each in enumerate(made)]
    for _ in range(steps):
        for i, each in enumerate(made):
            shown, reward, terminated, truncated, _ = each.step(0)
            after = int(np.argmax(shown))
            following = int(np.argmax(each.reset()[0])) if terminated or truncated else after
            ahead = 0.0 if terminated else value[after]
            if mistake == "end-ignored" and terminated:
                ahead = value[following]
            if mistake == "truncation-as-end" and truncated:
                ahead = 0.0
            if mistake == "reset-obs-bootstrapped" and truncated:
                ahead = value[following]
            gamma = {"undiscounted": 1.0, "discounted-twice": GAMMA**2, "future-ignored": 0.0}.get(mistake, GAMMA)
            seen[now[i]] += 1
            value[now[i]] += (reward + gamma * ahead - value[now[i]]) / seen[now[i]] ** 0.7
            now[i] = following
    return value


TOLD = [
    ("constant-reward", "end-ignored"),
    ("delayed-reward", "end-ignored"),
    ("delayed-reward", "undiscounted"),
    ("delayed-reward", "discounted-twice"),
    ("delayed-reward", "future-ignored"),
    ("discount-chain", "discounted-twice"),
    ("truncated-episode", "truncation-as-end"),
    ("unequal-episodes", "truncation-as-end"),
    ("unequal-episodes", "reset-obs-bootstrapped"),
    ("side-by-side", "truncation-as-end"),
]


@pytest.mark.parametrize(("name", "mistake"), TOLD, ids=[" ".join(each) for each in TOLD])
def test_a_mistake_leads_to_the_answer_that_is_known_for_it(name, mistake):
    kind = find(name)
    expected = kind(GAMMA).wrong_answers()[mistake]
    envs = 4 if name == "side-by-side" else 3 if name == "unequal-episodes" else 1
    got = learned(kind, mistake, envs=envs)
    size = max(float(np.ptp(expected)), float(np.abs(expected).max()))
    np.testing.assert_allclose(got, expected, atol=0.1 * size)


@pytest.mark.parametrize("kind", VALUES, ids=ids)
def test_without_a_mistake_the_right_answer_is_learned(kind):
    right = kind(GAMMA).right({"n_step": 1})
    got = learned(kind, "", envs=4)
    size = kind.scale or max(float(np.ptp(right)), float(np.abs(right).max()))
    np.testing.assert_allclose(got, right, atol=0.08 * size)


def test_returns_that_leak_are_what_the_wrong_answer_says():
    """Sums that run on over the end of an episode, the critic's own value taken off at every step, as GAE does it."""
    probe = find("leaking-return")(GAMMA)
    env = ProbeEnv(probe)
    env.reset(seed=0)
    value, seen, stream = np.zeros(3), np.zeros(3), []
    for _ in range(12_000):
        shown, _ = env.reset()
        stream.append((int(np.argmax(shown)), env.step(0)[1]))
    for (look, reward), (after, following) in itertools.pairwise(stream):
        seen[look] += 1
        leaked = reward + GAMMA * (following - value[after])
        value[look] += ((reward if look == 2 else leaked) - value[look]) / seen[look] ** 0.7
    np.testing.assert_allclose(value, probe.wrong_answers()["return-leaks"], atol=0.15)


# ── what is read off ──


@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.99, 1.0])
def test_the_chain_tells_gamma(gamma):
    chain = find("discount-chain")
    assert chain().effective_gamma(chain(gamma).solve().value) == pytest.approx(gamma, abs=1e-3)


def test_a_chain_of_zeros_tells_nothing():
    assert np.isnan(find("discount-chain")().effective_gamma(np.zeros(15)))


@pytest.mark.parametrize("lam", [0.0, 0.5, 0.95, 1.0])
def test_the_fork_tells_lambda(lam):
    """By playing: the first step is worth a mixture of the critic's middle and of what the middle paid."""
    fork, rng = find("aliased-fork")(GAMMA), np.random.default_rng(1)
    means = []
    for first in ("upper", "lower"):
        rewards = [play(fork, rng, first, choose=lambda _: 0)[1] for _ in range(50)]
        means.append(np.mean([GAMMA * ((1 - lam) * 0.5 + lam * each[1]) for each in rewards]))
    right = fork.right({"lam": lam})
    np.testing.assert_allclose(right, [*means, 0.5])
    assert fork.trust(right, GAMMA) == pytest.approx(lam)


def test_the_fork_knows_what_settings_say_of_lambda():
    fork = find("aliased-fork")(1.0)
    assert fork.right({}) is None
    np.testing.assert_allclose(fork.right({"n_step": 1}), [0.5, 0.5, 0.5])
    np.testing.assert_allclose(fork.right({"n_step": 3}), [1.0, 0.0, 0.5])
    np.testing.assert_allclose(fork.right({"lam": 1.0, "rollout": 8}), fork.right({"lam": 7 / 8}))


@pytest.mark.parametrize("name", ["truncated-episode", "side-by-side"])
def test_a_loop_without_end_has_no_value_undiscounted(name):
    assert find(name)(1.0).right({}) is None
    assert find(name)(0.9).right({}) is not None


def test_episodes_of_two_kinds_are_equally_common():
    begin = find("leaking-return")().begin()
    assert begin == pytest.approx({"x+": 0.25, "x-": 0.25, "y+": 0.25, "y-": 0.25})


@pytest.mark.parametrize("kind", [each for each in CHOICES if each.asks == "return"], ids=ids)
def test_one_who_acts_at_random_is_no_better_than_said(kind):
    probe, rng = kind(GAMMA), np.random.default_rng(2)
    begin = probe.begin()
    firsts = rng.choice(list(begin), p=list(begin.values()), size=800)
    returns = [sum(play(probe, rng, str(each), choose=lambda _: int(rng.integers(kind.actions)))[1]) for each in firsts]
    random, best = probe.returns()
    assert np.mean(returns) <= random + 0.15
    assert max(returns) == pytest.approx(best)


# ── by hand ──


class Gamble(Probe):
    """Stay for a little, or leave for what chance gives."""

    name = "gamble"
    states = ("in",)

    def step(self, state, action):
        return ("in", 1.0) if action == 0 else (Outcome(0.5, None, 30.0), Outcome(0.5, "in", 0.0))


def test_chance_and_loops_are_solved():
    # Leaving is worth 15 + 0.45 v = 15 / 0.55 once and for all; staying one step more, 1 + 0.9 v, is worth less.
    solved = Gamble(0.9).solve()
    assert solved.value[0] == pytest.approx(15 / 0.55)
    assert solved.q[0].tolist() == pytest.approx([1 + 0.9 * 15 / 0.55, 15 / 0.55])
    assert solved.best.tolist() == [[False, True]]
    assert solved.best_action("in") == 1.0


@pytest.mark.parametrize(("name", "best"), [("interior-optimum", 0.8), ("bound-optimum", 3.0), ("squashed-range", 3.0)])
def test_the_best_number_is_found_on_the_grid(name, best):
    assert find(name)().solve().best_action("here") == pytest.approx(best, abs=0.06)


@pytest.mark.parametrize("gamma", [-0.1, 1.1, float("nan")])
def test_gamma_is_a_share(gamma):
    with pytest.raises(ValueError, match="expected a share between 0 and 1"):
        find("constant-reward")(gamma)


def test_a_probe_without_a_step_says_so():
    class Empty(Probe):
        name = "empty"

    with pytest.raises(TypeError, match=r"Empty does not define step\(\)"):
        Empty().solve()
