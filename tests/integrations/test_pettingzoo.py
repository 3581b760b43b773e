"""PettingZoo, the real one: environments checked, algorithms probed, programs of several agents watched."""

import numpy as np
import pytest
import torch

import rldebug
from rldebug.env import check_env
from rldebug.parts.make import EnvError
from tests.integrations import pages
from tests.watched import findings, watched

pytest.importorskip("pettingzoo", reason="PettingZoo is in the extra `pettingzoo`, which is not installed")
from pettingzoo.utils.conversions import parallel_to_aec

from tests.integrations.agents_programs import Shared, Tag, tag

pytestmark = [
    pytest.mark.integration,
    # It announces the end of its games' modules whenever one is imported.
    pytest.mark.filterwarnings("ignore:.*environment creation API:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*environment creation API:UserWarning"),
]
LITTLE = {"steps": 1200, "seconds": 6.0}


def alarms(found):
    return [f"{each.code} {each.message}: {each.seen}" for each in found if each.severity != "note"]


def test_the_example_of_the_page():
    names = pages.run("pettingzoo")
    assert alarms(names["report"].findings) == []


# ── the check ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_sound_environment_is_clean():
    report = check_env(Tag, **LITTLE)
    assert alarms(report.findings) == []
    assert {"ENV044", "ENV045", "ENV046", "ENV047", "ENV048", "ENV013"} <= set(report.checked)


def test_one_that_takes_turns_is_converted():
    report = check_env(lambda: parallel_to_aec(Tag()), **LITTLE)
    assert alarms(report.findings) == []


@pytest.mark.parametrize("name", ["pettingzoo.classic.rps_v2:parallel_env", "pettingzoo.classic.tictactoe_v3:env"])
def test_games_of_the_library_are_clean(name):
    report = check_env(name, steps=400, seconds=5)
    assert [each for each in alarms(report.findings) if "ENV04" in each] == []


class Forgetful(Tag):
    """Sets no flag when the game is over for the chaser."""

    def step(self, actions):
        seen, paid, ended, cut, infos = super().step(actions)
        if all(ended.values()):
            ended["chaser"] = False
        return seen, paid, ended, cut, infos


class Late(Tag):
    """Sees bounds that nobody keeps to."""

    def seen(self, agent):
        return super().seen(agent) * 3


def test_an_agent_that_leaves_without_a_flag_is_named():
    assert check_env(Forgetful, **LITTLE).roots[0].code == "ENV045"


def test_what_is_asked_of_any_environment_is_asked_too():
    report = check_env(Late, **LITTLE)
    assert report.roots[0].code == "ENV014"
    assert "obs['" in report.roots[0].message + report.roots[0].seen


def test_an_environment_without_agents_is_refused_in_words():
    class Nobody(Tag):
        def __init__(self):
            super().__init__()
            self.possible_agents = []

    with pytest.raises(EnvError, match="no possible_agents: expected all that may ever take part"):
        check_env(Nobody)


# ── probes ──────────────────────────────────────────────────────────────────────────────────────────────────────────

RUNGS = ["constant-reward", "observed-reward", "observed-action-reward"]


def outcomes(report):
    return {each["name"]: each["outcome"] for each in report.program["rungs"]}


def test_a_sound_algorithm_climbs():
    def make_agent(make_env, seed=0):
        return Shared(make_env.parallel(3), seed=seed, lr=1e-2, steps=32)

    assert set(outcomes(rldebug.probe(make_agent, probes=RUNGS, seconds=8)).values()) == {"passed"}


def test_one_that_mixes_agents_up_does_not():
    def make_agent(make_env, seed=0):
        return Shared(make_env.parallel(3), seed=seed, lr=1e-2, steps=32, swapped=True)

    report = rldebug.probe(make_agent, probes=["constant-reward", "observed-reward"], seconds=8)
    assert outcomes(report) == {"constant-reward": "passed", "observed-reward": "failed"}
    assert report.exit == 1


# ── programs ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("seed", "limit"), [(0, 25), (4, 12)])
def test_a_sound_program_is_left_in_peace(seed, limit):
    assert alarms(findings(lambda: tag(seed=seed, limit=limit))) == []


def test_what_is_seen_of_agents_that_leave():
    _, script = watched(lambda: tag(updates=3))
    (stream,) = script.streams
    assert (stream["kind"], stream["lanes"], stream["autoreset"]) == ("pettingzoo", 3, "disabled")
    assert stream["facts"]["agents"] == ["chaser", "left", "right"]
    assert stream["stepped_after_end"] == 0
    assert stream["terminations"] > 0
    assert stream["truncations"] > 0


def test_watching_changes_no_weight():
    alone = tag(updates=3)
    made = []
    watched(lambda: made.append(tag(updates=3)))
    for one, other in ((alone.actor, made[0].actor), (alone.critic, made[0].critic)):
        assert all(torch.equal(one.state_dict()[key], each) for key, each in other.state_dict().items())


class Peaceful(Tag):
    """Nobody is ever caught. SuperSuit's `black_death_v3` ends no game in which the flags of agents differ."""

    def apart(self, agent):
        return 5.0


def test_vectors_of_supersuit_restart_within_the_step():
    supersuit = pytest.importorskip("supersuit", reason="SuperSuit is not installed")

    def play():
        vector = supersuit.pettingzoo_env_to_vec_env_v1(Peaceful(limit=6))
        envs = supersuit.concat_vec_envs_v1(vector, 2, base_class="gymnasium")
        envs.reset(seed=0)
        for _ in range(30):
            envs.step(np.ones(6, np.int64))

    _, script = watched(play)
    (stream,) = script.streams
    assert (stream["lanes"], stream["autoreset"]) == (6, "same-step")
    assert stream["steps"] == 6 * 30
    assert set(stream["lengths"]) == {6}


def test_agents_that_take_turns_are_each_a_stream():
    def play():
        env = parallel_to_aec(Tag(limit=25))
        rng = np.random.default_rng(0)
        for episode in range(12):
            env.reset(seed=episode)
            for _ in env.agent_iter():
                _, _, terminated, truncated, _ = env.last()
                env.last(observe=False)
                env.step(None if terminated or truncated else int(rng.integers(3)))

    _, script = watched(play)
    assert [each["facts"]["agents"] for each in script.streams] == [["chaser"], ["left"], ["right"]]
    assert {each["kind"] for each in script.streams} == {"pettingzoo-turns"}
    assert all(each["resets"] == each["episodes"] == 12 for each in script.streams)
    assert sum(each["terminations"] for each in script.streams) > 0
    assert all(0 < length <= 25 for each in script.streams for length in each["lengths"])
    assert {each["stepped_after_end"] for each in script.streams} == {0}
