import gymnasium
import numpy as np
import pytest
import torch

from rldebug.evidence.script import Audit, Nodes, Script
from rldebug.rules.seeding import lanes_seeded_alike as module
from rldebug.rules.seeding.lanes_seeded_alike import LanesSeededAlike
from tests.judge import fires, not_enough, quiet
from tests.watched import watched

rule = LanesSeededAlike()


def script(starts, seeds=(0,), separate=False):
    """starts: (episodes, lanes), a number for the observation that each episode began with."""
    starts = np.asarray(starts, dtype=np.float32)
    episodes, lanes = starts.shape
    count = starts.size
    lane = np.tile(np.arange(lanes), episodes)
    whole = np.zeros(count, dtype=np.int64)
    flags = np.zeros(count, dtype=bool)
    nodes = Nodes(
        id=np.arange(count), stream=lane if separate else whole, lane=whole if separate else lane, call=whole,
        phase=whole, update=whole, reward=np.zeros(count), terminated=flags, truncated=flags, phantom=flags,
        first=~flags, acted=~flags, action=np.zeros((count, 1)), nxt=whole, succ=whole, alike=whole,
        obs=starts.reshape(-1, 1), obs_stats=np.zeros((count, 4)),
    )  # fmt: skip
    streams = [{"lanes": 1 if separate else lanes}] * (lanes if separate else 1)
    things = {
        str(index): {"index": index, "name": "Cart", "steps": 100, "seeds": list(seeds), **each}
        for index, each in enumerate(streams)
    }
    return Script(audits=[Audit(0, 0, 0, 0, nodes, ())], things={"stream": things})


def varied(episodes, lanes):
    return np.arange(1, episodes * lanes + 1).reshape(episodes, lanes)


@pytest.mark.parametrize("separate", [False, True])
def test_fires_when_all_lanes_begin_alike_and_then_part(separate):
    starts = varied(6, 4)
    starts[0] = 7777
    assert "4 of Cart" in fires(rule, script(starts, separate=separate)).seen


def test_fires_on_two_actors_and_not_on_two_environments_of_one_process():
    starts = varied(12, 2)
    starts[:4] = [[7771], [7772], [7773], [7774]]
    of = script(starts, separate=True)
    not_enough(rule, of)
    for number, each in of.things["stream"].items():
        each["facts"] = {"elsewhere": int(number)}
    assert "2 of Cart" in fires(rule, of).seen


def test_fires_beside_one_that_is_only_played(monkeypatch):
    starts = varied(6, 5)
    starts[0, :4] = 7777
    monkeypatch.setattr(module, "evaluation_streams", lambda script: frozenset({4}))
    assert "4 of Cart" in fires(rule, script(starts, separate=True)).seen


def test_fires_when_every_episode_is_shared():
    starts = np.repeat(np.arange(12)[:, None], 4, axis=1)
    assert "12 of 12 episodes agree" in fires(rule, script(starts)).seen


def test_quiet_when_lanes_begin_differently():
    quiet(rule, script(varied(6, 4)))


def test_quiet_when_a_seed_is_given_at_every_reset():
    starts = np.repeat(np.arange(12)[:, None], 4, axis=1)
    quiet(rule, script(starts, seeds=range(12)))


def test_quiet_when_the_first_observations_are_no_longer_known():
    starts = varied(6, 4).astype(np.float32)
    starts[0] = np.nan
    quiet(rule, script(starts))


def test_declines_when_there_is_only_one_start():
    not_enough(rule, script(np.zeros((12, 4))))


def test_declines_when_few_starts_may_agree_by_chance():
    starts = varied(10, 2) % 3
    starts[0] = 1
    not_enough(rule, script(starts))


def test_declines_when_there_is_one_environment():
    not_enough(rule, script(varied(12, 1)))


class Drift(gymnasium.Env):
    """Begins anywhere, and is over after four steps."""

    observation_space = gymnasium.spaces.Box(-9, 9, (3,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state, self.left = self.np_random.normal(size=3).astype(np.float32), 4
        return self.state.copy(), {}

    def step(self, action):
        self.state, self.left = self.state + np.float32(0.1 * (2 * action - 1)), self.left - 1
        return self.state.copy(), float(self.state[0]), self.left == 0, False, {}


def program(seeds):
    def run():
        torch.manual_seed(0)
        envs = gymnasium.vector.SyncVectorEnv([Drift] * len(seeds))
        net = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(net.parameters(), 0.01)
        obs, _ = envs.reset(seed=seeds)
        for _ in range(4):
            kept = []
            for _ in range(12):
                dist = torch.distributions.Categorical(logits=net(torch.as_tensor(obs)))
                action = dist.sample()
                obs, reward, _, _, _ = envs.step(action.numpy())
                kept.append(-dist.log_prob(action) * torch.as_tensor(reward))
            opt.zero_grad()
            torch.stack(kept).float().mean().backward()
            opt.step()
        envs.close()

    return run


def test_fires_on_a_program_that_gives_all_lanes_one_seed():
    fires(rule, watched(program([5, 5, 5, 5]))[1])


def test_quiet_on_the_program_with_a_seed_for_each():
    quiet(rule, watched(program([5, 6, 7, 8]))[1])
