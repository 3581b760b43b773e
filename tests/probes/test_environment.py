"""A probe as an environment: it plays by its table, and says what was played."""

from collections import Counter

import numpy as np
import pytest

from rldebug.probes.environment import ProbeEnv
from rldebug.probes.shelf import find, probes


def env(name, *, gamma=0.9, **more):
    return ProbeEnv(find(name)(gamma), **more)


def test_it_must_be_reset_first_and_again_after_the_end():
    made = env("constant-reward")
    with pytest.raises(RuntimeError, match="call reset"):
        made.step(0)
    made.reset(seed=0)
    assert made.step(0)[1:4] == (1.0, True, False)
    with pytest.raises(RuntimeError, match="call reset"):
        made.step(0)


def test_running_out_of_time_is_not_an_end():
    made = env("truncated-episode")
    made.reset(seed=0)
    steps = [made.step(0) for _ in range(5)]
    assert [each[2] for each in steps] == [False] * 5
    assert [each[3] for each in steps] == [False] * 4 + [True]
    assert [each[1] for each in steps] == pytest.approx([0.1] * 5)


def test_an_end_at_the_limit_is_an_end():
    made = env("unequal-episodes", index=0)  # cut off after one step
    flags = set()
    for seed in range(40):
        obs, _ = made.reset(seed=seed)
        begun = int(np.argmax(obs))
        _, _, terminated, truncated, _ = made.step(0)
        flags.add((begun, terminated, truncated))
    assert flags == {(0, False, True), (1, False, True), (2, True, False), (3, True, False)}


def test_environments_side_by_side_have_limits_of_their_own():
    assert [find("unequal-episodes")().limit(i) for i in range(4)] == [1, 2, 3, 1]


def test_what_is_shown_at_a_cut_is_where_it_would_have_gone_on():
    made = env("unequal-episodes", index=0)
    for seed in range(20):
        obs, _ = made.reset(seed=seed)
        if obs.argmax() == 0:
            assert made.step(0)[0].argmax() == 1
            return
    raise AssertionError("no episode began far away")


def test_each_environment_side_by_side_stays_in_its_own_state():
    for index in range(6):
        made = env("side-by-side", index=index)
        obs, _ = made.reset(seed=index)
        assert obs.argmax() == index % 4
        assert made.step(0)[0].argmax() == index % 4


def test_the_second_kind_of_episode_pays_by_the_first():
    made = env("leaking-return")
    played = []
    for seed in range(61):
        obs, _ = made.reset(seed=seed)
        played.append((int(obs.argmax()), made.step(0)[1]))
    first, second = played[1::2], played[2::2]  # the very first episode is of the second kind
    assert set(first) == {(0, 0.0), (1, 0.0)}
    assert {(one[0], *other) for one, other in zip(first, second, strict=True)} == {(0, 2, 2.0), (1, 2, 0.0)}


def test_the_same_seed_and_actions_give_the_same_episode():
    def played(seed):
        made = env("noisy-arms", obs="noisy")
        obs, _ = made.reset(seed=seed)
        second, _, *_ = made.step(3)
        return np.concatenate([obs, second]), made.step(3)[1]

    one, other = played(7), played(7)
    np.testing.assert_array_equal(one[0], other[0])
    assert one[1] == other[1]
    assert (played(7)[0] != played(8)[0]).any()


def test_chances_are_those_of_the_table():
    made = env("noisy-reward")
    made.reset(seed=0)
    paid = Counter()
    for _ in range(4000):
        made.reset()
        paid[made.step(0)[1]] += 1
    assert set(paid) == {0.6, 1.6}
    assert paid[1.6] / 4000 == pytest.approx(0.4, abs=0.03)


def test_every_step_is_told():
    log = []
    made = env("masked-actions", index=3, played=log.append)
    _, info = made.reset(seed=0)
    forbidden = int(np.flatnonzero(~info["action_mask"])[0])
    made.step(forbidden)
    assert log == [(3, 0, forbidden, -2.0, True, False)]


def test_masks_are_in_the_info_and_can_be_asked_for():
    made = env("masked-actions")
    for seed in range(8):
        _, info = made.reset(seed=seed)
        np.testing.assert_array_equal(made.action_masks(), info["action_mask"])
        assert info["action_mask"].sum() == 2
    assert made.masks_read == 8
    plain = env("action-reward")
    assert plain.reset(seed=0)[1] == {}
    assert plain.action_masks().all()


CLOTHES = ("discrete", "continuous", "multi-discrete")


@pytest.mark.parametrize("kind", probes(), ids=lambda each: each.name)
def test_every_choice_has_an_action(kind):
    for action in ("continuous",) if kind.range else CLOTHES:
        made = ProbeEnv(kind(0.9), action=action)
        for chosen in made.probe.choices:
            given = made.encode_action(chosen)
            assert made.action_space.contains(given)
            assert made.read(given) == pytest.approx(chosen, abs=1e-6)


SEEN_WHOLE = [each for each in probes() if not set(each.wants) & {"memory", "masks", "frames"}]


@pytest.mark.parametrize("kind", SEEN_WHOLE, ids=lambda each: each.name)
def test_who_knows_the_answer_gets_what_the_table_promises(kind):
    made = ProbeEnv(kind(0.9), action="continuous" if kind.range else None)
    returns, known = [], {}
    made.reset(seed=0)
    for _ in range(400):
        made.reset()
        total, over = 0.0, False
        while not over:
            look = made.probe.look(made._state)
            if look not in known:  # it is worked out anew each time
                known[look] = made.optimal_action()
            _, reward, terminated, truncated, _ = made.step(known[look])
            total += reward
            over = terminated or truncated
        returns.append(total)
    expected = made.probe.returns()[1] if kind.name != "side-by-side" else (1 - 0.9) * 20
    spread = 4 * np.std(returns) / 20 + 0.02 * max(abs(expected), 1e-3)
    assert np.mean(returns) == pytest.approx(expected, abs=spread)
