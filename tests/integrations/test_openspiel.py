"""OpenSpiel, the real one: games seen player by player, mistakes of its users found, its own agents left in peace."""

import re
import sys

import numpy as np
import pytest
import torch

import rldebug
from rldebug.integrations.openspiel import watch

pytest.importorskip("pyspiel", reason="OpenSpiel is in the extra `openspiel`, which is not installed")
from open_spiel.python import rl_environment
from open_spiel.python.pytorch.dqn import DQN
from open_spiel.python.pytorch.policy_gradient import PolicyGradient
from open_spiel.python.pytorch.ppo import PPO, PPOAgent
from open_spiel.python.vector_env import SyncVectorEnv

from tests.integrations import pages

pytestmark = [
    pytest.mark.integration,
    # Its own agents index tensors with lists, and make tensors of lists of arrays.
    pytest.mark.filterwarnings("ignore:Using a non-tuple sequence:UserWarning"),
    pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy:UserWarning"),
]


class RewardOfPlayerZero(DQN):
    """As many a first agent has it: the first of the rewards, whoever it is that learns."""

    def add_transition(self, prev_time_step, prev_action, time_step):
        rewards = [time_step.rewards[0]] * len(time_step.rewards)
        super().add_transition(prev_time_step, prev_action, time_step._replace(rewards=rewards))


class NeverFinal(DQN):
    """Stores every step as one that goes on."""

    def add_transition(self, prev_time_step, prev_action, time_step):
        legal = time_step.observations["legal_actions"]
        seen = {**time_step.observations, "legal_actions": [each or list(range(self._num_actions)) for each in legal]}
        goes_on = time_step._replace(step_type=rl_environment.StepType.MID, observations=seen)
        super().add_transition(prev_time_step, prev_action, goes_on)


def agents_for(env, kind, **settings):
    size, actions = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    return [kind(player, size, actions, **settings) for player in range(env.num_players)]


def q_learning(kind=DQN, game="tic_tac_toe", games=230, seed=1):
    env = rl_environment.Environment(game, chance_event_sampler=rl_environment.ChanceEventSampler(seed))
    agents = agents_for(
        env, kind, hidden_layers_sizes=(64,), batch_size=32, learning_rate=1e-3, optimizer_str="adam", seed=seed,
        update_target_network_every=100, learn_every=4, min_buffer_size_to_learn=200, epsilon_decay_duration=1000,
        discount_factor=0.99,
    )  # fmt: skip
    return env, agents, lambda: play(env, agents, games, seed)


def policy_gradient(game="leduc_poker", loss="a2c", games=300, seed=1):
    env = rl_environment.Environment(game, chance_event_sampler=rl_environment.ChanceEventSampler(seed))
    torch.manual_seed(seed)
    agents = agents_for(env, PolicyGradient, loss_str=loss, hidden_layers_sizes=(32,), batch_size=32)
    return env, agents, lambda: play(env, agents, games, seed)


def play(env, agents, games, seed):
    np.random.seed(seed)
    for _ in range(games):
        time_step = env.reset()
        while not time_step.last():
            together = time_step.is_simultaneous_move()
            movers = agents if together else [agents[time_step.current_player()]]
            time_step = env.step([each.step(time_step).action for each in movers])
        for each in agents:
            each.step(time_step)


def ppo(ends=True, updates=8, seed=1):
    """Games of catch, four at a time. Without `ends` the loop tells the agent that no game is ever over."""
    samplers = [rl_environment.ChanceEventSampler(seed + each) for each in range(4)]
    envs = SyncVectorEnv([rl_environment.Environment("catch", chance_event_sampler=each) for each in samplers])
    torch.manual_seed(seed)
    shape, actions = tuple(envs.observation_spec()["info_state"]), envs.envs[0].action_spec()["num_actions"]
    agent = PPO(shape, actions, num_players=1, num_envs=4, steps_per_batch=64, agent_fn=PPOAgent)

    def learn():
        time_steps = envs.reset()
        for _ in range(updates):
            for _ in range(64):
                time_steps, reward, done, _ = envs.step(agent.step(time_steps), reset_if_done=True)
                agent.post_step(reward, done if ends else [False] * 4)
            agent.learn(time_steps)

    return envs, agent, learn


def judged(made, folder, **how):
    env, agents, go = made
    with watch(env, agents, run="game", folder=folder, quiet=True, **how) as dbg:
        go()
    report = dbg.close()
    assert not report.broken, report.broken
    return report


def test_the_example_of_the_page_runs_and_is_quiet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = pages.run("openspiel")["dbg"].close()
    assert report.clean, report.findings
    assert {each["of"] for each in report.program["targets"]} == {"Q"}


@pytest.mark.parametrize(
    ("made", "code", "component"),
    [
        (lambda: q_learning(RewardOfPlayerZero), "BUF353", "buffer"),
        (lambda: q_learning(NeverFinal), "DIS300", "discounting"),
        (lambda: ppo(ends=False), "DIS300", "discounting"),
    ],
    ids=["reward of another player", "ends of games not stored", "ends of games not told to PPO"],
)
def test_a_planted_bug_is_named(made, code, component, tmp_path):
    report = judged(made(), tmp_path)
    assert report.suspects[0].component == component
    assert code in report.suspects[0].codes


@pytest.mark.parametrize(
    "made",
    [
        lambda: q_learning(),
        lambda: q_learning(game="goofspiel(num_cards=5,imp_info=True)", games=180, seed=3),
        lambda: policy_gradient(),
        lambda: policy_gradient("kuhn_poker", "rpg", games=500),
        lambda: ppo(),
    ],
    ids=["DQN", "DQN, moves at once", "a2c", "rpg", "PPO"],
)
def test_its_own_agents_are_left_in_peace(made, tmp_path):
    report = judged(made(), tmp_path)
    assert report.clean, report.findings


def test_each_player_is_a_stream_of_its_own_with_its_own_rewards(tmp_path):
    from rldebug.evidence.script import read_script

    env, agents, go = q_learning(games=60)
    with watch(env, agents, run="game", folder=tmp_path, quiet=True) as dbg:
        go()
    streams = {each["name"]: each for each in read_script(dbg.path).streams}
    assert set(streams) == {"tic_tac_toe, player 0", "tic_tac_toe, player 1"}
    first, second = streams["tic_tac_toe, player 0"], streams["tic_tac_toe, player 1"]
    assert first["episodes"] == second["episodes"] == 60
    assert first["returns"] == [-each for each in second["returns"]]
    assert first["steps"] > second["steps"], "who begins moves more often"


def test_watching_changes_nothing(tmp_path):
    def weights(watched):
        env, agents, go = q_learning(games=80)
        if watched:
            judged((env, agents, go), tmp_path)
        else:
            go()
        return [each for agent in agents for each in agent._q_network.state_dict().values()], np.random.random()

    (plain, draw), (seen, draw_seen) = weights(False), weights(True)
    assert all(torch.equal(one, other) for one, other in zip(plain, seen, strict=True))
    assert draw == draw_seen


def test_settings_and_game_are_declared(tmp_path):
    import json

    env, agents, _ = q_learning()
    with watch(env, agents, run="game", folder=tmp_path, quiet=True) as dbg:
        pass
    told = json.loads((dbg.path / "run.json").read_text())["declared"]
    assert told["players"] == 2
    assert "tic_tac_toe" in told["game"]
    assert [each["discount_factor"] for each in told["agents"]] == [0.99, 0.99]


def test_what_is_no_environment_is_refused_before_anything_is_hooked():
    with pytest.raises(TypeError, match="expected an open_spiel"):
        watch("tic_tac_toe", [])
    assert not rldebug.capture.session.current()


def test_without_the_library_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "open_spiel.python.rl_environment", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'rldebug[openspiel]'")):
        watch(object(), [])
