"""Programs with a mistake in one function, or elsewhere; each is small, and runs for a moment."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from rldebug.evidence.transplant import Seen, Transplant
from rldebug.evidence.verification import Verification
from rldebug.render.json import schema
from rldebug.target import TargetError
from rldebug.transplant import _compared, in_order, report_on, transplant

GAE = """
import numpy as np

def compute_gae(rewards, values, dones, last_value, gamma=0.99, lam=0.95):
    advantages, running = np.zeros(len(rewards)), 0.0
    for t in reversed(range(len(rewards))):
        following = last_value if t == len(rewards) - 1 else values[t + 1]
        delta = SIGN * (rewards[t] + gamma * following * (1 - dones[t]) - values[t])
        running = delta + gamma * lam * (1 - dones[t]) * running
        advantages[t] = running
    return advantages
"""
WRONG, SOUND = GAE.replace("SIGN *", "-"), GAE.replace("SIGN *", "")
PROGRAM = """
import sys
import numpy as np
from advantages import compute_gae

def main():
    advantages = compute_gae(np.array([1.0, 2.0, 3.0]), np.zeros(3), np.zeros(3), 0.0)
    BODY

if __name__ == "__main__":
    main()
"""


def written(body, function=WRONG):
    Path("advantages.py").write_text(function, encoding="utf-8")
    Path("train.py").write_text(PROGRAM.replace("BODY", body), encoding="utf-8")


def done(*words, target="advantages.py:compute_gae", **more):
    return transplant(target, "gae", words or ("train.py",), drawn=0, **more)


def test_a_crash_goes_away():
    written("assert advantages[0] > 0, 'nothing learned'")
    found = done()
    assert found.before.crash == "status 1: AssertionError: nothing learned"
    assert found.after.crash == ""
    assert found.verdict == "gone"
    assert found.said == "the symptom goes away: the mistake is in compute_gae"
    assert found.verification.matched == ("gae-sign-flipped",)
    assert found.before.calls == {"counted": 1}
    assert found.after.calls == {"different": 1}
    report = report_on(found)
    assert report.exit == 1
    jsonschema.validate(json.loads(json.dumps(report.to_dict())), schema())
    assert report.program["verdict"] == "gone"
    assert [each.name for each in report.findings] == ["gae-sign-flipped"]


def test_one_that_has_another_cause_stays_and_a_sound_function_is_said_to_be_sound():
    written("sys.exit('no disk')", SOUND)
    said = []
    found = done(progress=said.append)
    assert found.verdict == "stays"
    assert found.said == "the symptom stays: look elsewhere (compute_gae is not it, or not alone)"
    assert found.after.calls == {"same": 1}
    assert "is right" in said[1]
    assert report_on(found).exit == 0


RUN = """
    from pathlib import Path
    import json
    from rldebug.record import new_run_folder
    from rldebug.evidence.run import Run, encode
    folder = new_run_folder(Path("somewhere"), "mine")
    entropy = [0.99, 0.6, 0.2] + [0.01 if advantages[0] < 0 else 0.5] * 60
    run = Run.from_series({"policy/entropy_rel": entropy, "episode/return_mean": [9.0, 10.0, 9.5] * 21})
    (folder / "run.json").write_text(json.dumps({"format": 1, "name": "mine", "versions": {}}))
    (folder / "readings.jsonl").write_text("".join(encode(each) + "\\n" for each in run.readings))
"""


def test_a_finding_of_a_watched_run_goes_away():
    written(RUN.strip())
    found = done()
    assert any("entropy" in each for each in found.before.findings)
    assert found.gone
    assert not any("entropy" in each for each in found.after.findings)


PLAYS = """
import gymnasium as gym

class Agent:
    gamma, lam = 0.9, 0.8

    def advantage(self, rewards, values, dones, last_value):
        out, running = [0.0] * len(rewards), 0.0
        for t in reversed(range(len(rewards))):
            following = last_value if t == len(rewards) - 1 else values[t + 1]
            going_on = 1 - dones[t]
            running = self.gamma * self.lam * going_on * running
            running += values[t] - rewards[t] - self.gamma * following * going_on
            out[t] = running
        return out

class Env(gym.Env):
    observation_space, action_space = gym.spaces.Discrete(1), gym.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        return 0, {}
    def step(self, action):
        return 0, float(action), True, False, {}

if __name__ == "__main__":
    import sys
    env, agent, better = Env(), Agent(), 0.0
    env.reset(seed=int(sys.argv[1]))
    for i in range(40):
        action = i % 2 if i < 10 else int(better > 0)
        _, reward, *_ = env.step(action)
        env.reset()
        better += (1 if action else -1) * agent.advantage([reward], [0.0], [1.0], 0.0)[0]
"""


def test_returns_are_told_and_are_no_symptom_in_a_script_that_holds_the_function():
    Path("play.py").write_text(PLAYS, encoding="utf-8")
    found = done("python3", "play.py", "{seed}", target="play.py:Agent.advantage", seeds=2)
    assert found.verdict == "none"
    assert found.said == "there was no symptom to begin with: no finding, no crash"
    assert (found.before.runs, len(found.before.returns), found.before.mean_return) == (2, 80, 0.0)
    assert found.after.mean_return == 1.0
    assert found.after.calls["different"] > 0


LEARNS = """
import argparse
import gymnasium, numpy
from advantages import compute_gae
parser = argparse.ArgumentParser()
parser.add_argument("--env-id")
env = gymnasium.make(parser.parse_args().env_id)
rng = numpy.random.default_rng(0)
likes = {}
obs, _ = env.reset(seed=0)
while True:
    steps = []
    for _ in range(64):
        key = obs.tobytes()
        logits = likes.setdefault(key, numpy.zeros(int(env.action_space.n)))
        chances = numpy.exp(logits - logits.max()) / numpy.exp(logits - logits.max()).sum()
        action = int(rng.choice(len(chances), p=0.9 * chances + 0.1 / len(chances)))
        obs, reward, terminated, truncated, _ = env.step(action)
        steps.append((key, action, chances, float(reward), float(terminated or truncated)))
        if terminated or truncated:
            obs, _ = env.reset()
    keys, actions, policies, rewards, dones = zip(*steps)
    advantages = compute_gae(numpy.array(rewards), numpy.zeros(64), numpy.array(dones), 0.0)
    for key, action, chances, each in zip(keys, actions, policies, advantages):
        likes[key] += 0.1 * each * ((numpy.arange(len(chances)) == action) - chances)
"""


def test_a_probe_that_fails_passes():
    written("pass")
    Path("learn.py").write_text(LEARNS, encoding="utf-8")
    found = done("learn.py", env_flag="--env-id", probes=["action-reward"])
    assert found.before.rungs == {"action-reward": "failed"}
    assert found.after.rungs == {"action-reward": "passed"}
    assert found.verdict == "gone"


AGENT = """
import numpy as np
from advantages import compute_gae

class Agent:
    gamma = 0.99
    def __init__(self, make_env):
        self.env, self.rng = make_env(), np.random.default_rng(0)
        self.likes = np.zeros(int(self.env.action_space.n))
        self.env.reset(seed=0)
    def policy(self, obs):
        chances = np.exp(self.likes) / np.exp(self.likes).sum()
        return np.tile(chances, (len(obs), 1))
    def learn(self, steps):
        for _ in range(steps):
            chances = self.policy([0])[0]
            action = int(self.rng.choice(len(chances), p=chances))
            _, reward, *_ = self.env.step(action)
            self.env.reset()
            advantage = compute_gae(np.array([float(reward)]), np.zeros(1), np.ones(1), 0.0)
            self.likes += 0.1 * advantage[0] * ((np.arange(len(chances)) == action) - chances)
"""


@pytest.mark.slow
def test_an_agent_of_rldebug_probe():
    written("pass")
    Path("agent.py").write_text(AGENT, encoding="utf-8")
    found = done("probe", "agent.py:Agent", "--probes", "action-reward", "--jobs", "1", "--seeds", "3")
    assert found.before.rungs == {"action-reward": "failed"}
    assert found.after.rungs == {"action-reward": "passed"}
    assert found.verdict == "gone"


def test_one_that_is_never_called_cannot_be_judged():
    written("pass")
    Path("train.py").write_text("print('nothing')", encoding="utf-8")
    with pytest.raises(TargetError, match=r"the program never calls compute_gae$"):
        done()
    Path("train.py").write_text("import nowhere", encoding="utf-8")
    with pytest.raises(TargetError, match="it ends before that: status 1: ModuleNotFoundError"):
        done()


def test_a_program_that_hands_over_what_no_case_has():
    written("pass")
    Path("train.py").write_text(
        "import numpy as np\nfrom advantages import compute_gae\n"
        "compute_gae(np.ones(3), np.ones(9), np.zeros(3), 0.0)\n",
        encoding="utf-8",
    )
    with pytest.raises(TargetError, match="the reference could not take its place: compute_gae was called with"):
        done()


def test_its_time_is_limited():
    written("import time; time.sleep(60)")
    found = done(seconds=4)
    assert found.before.stopped
    assert found.after.stopped
    assert found.verdict == "none"


@pytest.mark.parametrize(
    ("words", "more", "said"),
    [
        ((), {}, "which program?"),
        (("none.py",), {}, "none.py: no such file"),
        (("train.py",), {"seeds": 3}, "expected {seed} among the arguments"),
        (("train.py",), {"target": "advantages.py:np.cumsum"}, "could not be verified|cannot be replaced"),
        (("-m", "train"), {"env_flag": "--env-id"}, "needs a script"),
    ],
    ids=["none", "file", "seeds", "builtin", "module"],
)
def test_it_could_not_run(words, more, said):
    written("pass")
    target = more.pop("target", "advantages.py:compute_gae")
    with pytest.raises(TargetError, match=said):
        transplant(target, "gae", words, drawn=0, **more)


def verdict(before, after):
    return _compared(Verification("gae", "x:f", "right"), ["train.py"], before, after)


def test_verdicts():
    two = Seen(findings=("a", "b"), calls={"counted": 1})
    assert verdict(two, Seen()).verdict == "gone"
    assert verdict(two, Seen(findings=("b",))).verdict == "partly"
    assert "there is another" in verdict(two, Seen(findings=("b",))).said
    assert verdict(two, Seen(findings=("a", "b", "c"))).new == ("finding c",)
    assert verdict(two, Seen(crash="status 1")).verdict == "unclear"
    probe = Seen(rungs={"p": "failed"})
    assert verdict(probe, Seen(rungs={"p": "undecided"})).verdict == "unclear"
    assert verdict(probe, Seen(rungs={"p": "crashed"})).verdict == "stays"
    assert verdict(Seen(), Seen(crash="status 1")).verdict == "none"
    assert isinstance(verdict(probe, probe), Transplant)


def test_the_order_of_names():
    assert in_order("gae", "a.b:f") == in_order("a.b:f", "gae") == ("a.b:f", "gae")
