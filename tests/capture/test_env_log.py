import numpy as np

from rldebug.capture import env_nodes, env_stream
from rldebug.capture.env_log import EnvLog
from rldebug.capture.env_values import STILL


class Env:
    pass


def log_of(kind="gymnasium", lanes=1, autoreset="disabled", **facts):
    log = EnvLog(lambda: (0, 0), lambda env: None)
    env = Env()
    log.new(env, kind, lanes, autoreset, facts)
    return log, env


def obs(*numbers):
    return np.array(numbers, dtype=np.float32)


def test_an_episode_of_one_environment():
    log, env = log_of()
    log.reset(env, obs(0), 7, 1)
    log.step(env, 1, obs(1), 0.5, False, False, None)
    log.step(env, 0, obs(2), 2.0, True, False, None)
    log.reset(env, obs(3), None, 1)
    start, middle, final, again = log.nodes
    assert (start.action, start.reward, start.nxt, start.succ, start.first) == (1, 0.5, 1, 1, True)
    assert (middle.terminated, middle.nxt, middle.acted) == (True, final.id, True)
    assert final.succ == again.id
    assert not final.acted
    told = log.streams[0].describe()
    assert (told["steps"], told["episodes"], told["returns"], told["lengths"]) == (2, 1, [2.5], [2])
    assert told["seeds"] == [7, None]
    assert told["action"] == {"counts": {"0": 1, "1": 1}}


def test_the_final_observation_of_a_lane_that_resets_in_the_same_step():
    log, env = log_of("gymnasium-vector", 2, "same-step")
    log.reset(env, np.array([[0.0], [10.0]]), None, 2)
    log.step(
        env,
        np.array([1, 0]),
        np.array([[1.0], [20.0]]),
        np.ones(2),
        np.array([False, True]),
        np.zeros(2, bool),
        [None, obs(11)],
    )
    lane = [each for each in log.nodes if each.lane == 1]
    start, reset, final = lane
    assert start.nxt == final.id
    assert start.succ == reset.id
    assert final.obs[0] == 11
    assert reset.first
    assert log.streams[0].finished == 1
    assert not any(log.streams[0].over)


def test_the_step_after_an_end_that_only_resets_is_a_phantom():
    log, env = log_of("gymnasium-vector", 2, "next-step")
    log.reset(env, np.zeros((2, 1)), None, 2)
    ends = np.array([True, False])
    log.step(env, np.array([1, 1]), np.array([[5.0], [1.0]]), np.ones(2), ends, np.zeros(2, bool), None)
    log.step(env, np.array([0, 0]), np.array([[9.0], [2.0]]), np.zeros(2), np.zeros(2, bool), np.zeros(2, bool), None)
    first, second, third = (each for each in log.nodes if each.lane == 0)
    assert first.nxt == first.succ == second.id
    assert second.phantom
    assert third.first
    assert log.streams[0].steps == 3  # the phantom is no step


def test_where_an_episode_ended_is_unknown_if_only_the_reset_is_told():
    log, env = log_of(resets_itself=True)
    log.reset(env, obs(0), None, 1)
    log.step(env, 1, obs(4), 1.0, True, False, None)
    start, reset = log.nodes
    assert start.nxt == -1
    assert start.succ == reset.id
    assert reset.first


def test_steps_after_the_end_are_counted():
    log, env = log_of()
    log.reset(env, obs(0), None, 1)
    for _ in range(3):
        log.step(env, 0, obs(1), 0.0, True, False, None)
    assert log.streams[0].stepped_after_end == 2


def test_equal_observations_are_marked():
    log, env = log_of()
    log.reset(env, obs(0), None, 1)
    log.step(env, 0, obs(0), 0.0, False, False, None)
    assert [each.alike for each in log.nodes] == [-1, 0]
    assert log.find(log.nodes[0].fp) is log.nodes[1]  # the newest


def test_the_array_that_the_environment_reuses_is_copied_and_told():
    log, env = log_of()
    buffer = obs(0)
    log.reset(env, buffer, None, 1)
    for number in range(1, 5):
        buffer[0] = number
        log.step(env, 0, buffer, 0.0, False, False, None)
    assert [float(each.obs[0]) for each in log.nodes] == [0, 1, 2, 3, 4]
    assert log.streams[0].describe()["obs"]["aliased"] > 0.5


def test_environments_called_in_turn_are_acted_on_together():
    log = EnvLog(lambda: (0, 0), lambda env: None)
    envs = [Env() for _ in range(3)]
    for place, each in enumerate(envs):
        log.new(each, "gymnasium", 1, "disabled", {})
        log.reset(each, obs(place), None, 1)
    assert [each.stream for each in log.current(3)] == [0, 1, 2]
    for place, each in enumerate(envs):
        log.step(each, 0, obs(10 + place), 0.0, False, False, None)
    assert [float(each.obs[0]) for each in log.current(3)] == [10, 11, 12]
    assert [float(each.obs[0]) for each in log.current(1)] == [12]


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(env_nodes, "CAPACITY", 50)
    monkeypatch.setattr(env_nodes, "RECENT", 20)
    monkeypatch.setattr(env_stream, "EPISODES", 16)
    log, env = log_of()
    log.reset(env, obs(-1), None, 1)
    for number in range(1000):
        log.step(env, 0, obs(number), 0.0, number % 5 == 4, False, None)
    assert len(log.nodes) <= 100
    assert len(log.index) <= 100
    assert log.recent <= 20
    assert sum(each.obs is not None for each in log.nodes) <= 20
    told = log.streams[0].describe()
    assert told["episodes"] == 200
    assert len(told["returns"]) <= 16
    assert log.get(log.nodes[0].id) is log.nodes[0]
    assert log.get(0) is None


def test_a_lane_that_takes_no_part_in_a_call_stands_still():
    log, env = log_of("tianshou-vec", 2)
    log.reset(env, np.array([[0.0], [10.0]]), None, 2)
    flags = np.zeros(2, bool)
    log.step(env, [1, STILL], [obs(1), STILL], np.array([1.0, 0.0]), flags, flags, None)
    log.step(env, np.array([1, 1]), np.array([[2.0], [11.0]]), np.ones(2), flags, flags, None)
    first, other = log.nodes[0], log.nodes[1]
    assert (first.reward, log.nodes[first.nxt].obs[0]) == (1.0, 1.0)
    assert (other.reward, log.nodes[other.nxt].obs[0]) == (1.0, 11.0)
    assert log.streams[0].describe()["steps"] == log.steps == 3


def evaluated(log, env, ended=True):
    """A step of training, and then an episode of another environment."""
    other = Env()
    log.new(other, "gymnasium", 1, "disabled", {})
    log.reset(env, obs(0), 7, 1)
    log.step(env, 1, obs(1), 0.5, False, False, None)
    log.reset(other, obs(10), 7, 1)
    for count in range(4):
        log.step(other, 1, obs(11 + count), 0.5, ended and count == 3, False, None)
    return float(log.current(1)[0].obs[0])


def test_after_an_evaluation_the_environment_that_waits_is_acted_on():
    assert evaluated(*log_of()) == 1.0


def test_within_an_episode_the_environment_called_last_is_acted_on():
    assert evaluated(*log_of(), ended=False) == 14.0
