"""Scripts here use no torch, so that each starts quickly; one has a module of that name that counts as one does."""

import sys
from pathlib import Path

import pytest

from rldebug.evidence.ladder import Attempt, Rung
from rldebug.probe import climb_ladder
from rldebug.probes.agent import Factory
from rldebug.probes.shelf import find
from rldebug.script_target import Child, Script, target
from rldebug.target import TargetError

SCRIPT = """
import argparse, random, sys
import gymnasium
parser = argparse.ArgumentParser()
parser.add_argument("--env-id", default="CartPole-v1")
parser.add_argument("--steps", type=int, default=10**9)
parser.add_argument("--sign", type=float, default=1.0)
parser.add_argument("--explore", type=float, default=0.1)
arguments = parser.parse_args()
env = gymnasium.make(arguments.env_id)
obs, _ = env.reset(seed=0)
value = {}
for _ in range(arguments.steps):
    row = value.setdefault(obs.tobytes(), [0.0] * int(env.action_space.n))
    action = max(range(len(row)), key=row.__getitem__)
    if random.random() < arguments.explore:
        action = random.randrange(len(row))
    obs, reward, terminated, truncated, _ = env.step(action)
    row[action] += 0.1 * (arguments.sign * reward - row[action])
    if terminated or truncated:
        obs, _ = env.reset()
print("well done")
"""
RUNGS = ["constant-reward", "action-reward", "observed-action-reward"]


@pytest.fixture(autouse=True)
def script():
    Path("agent.py").write_text(SCRIPT, encoding="utf-8")


def climbed(*arguments, probes=RUNGS[1:2], **more):
    return climb_ladder(target("agent.py", "--env-id", arguments), probes=probes, **more)


def test_a_sound_script_passes_by_what_it_plays():
    ladder = climbed(probes=RUNGS)
    assert [each.outcome for each in ladder.rungs] == ["not applicable", "passed", "passed"]
    assert "not seen from outside" in ladder.rungs[0].reason


def test_one_that_does_the_opposite_fails():
    assert climbed("--sign", "-1")["action-reward"].outcome == "failed"


def test_one_that_only_explores_is_undecided():
    rung = climbed("--explore", "1", steps=3000)["action-reward"]
    assert rung.outcome == "undecided"
    assert "at random" in rung.reason


def test_one_that_comes_to_its_own_end_is_judged_by_then():
    rung = climbed("--steps", "800")["action-reward"]
    assert rung.outcome == "passed"
    short = climbed("--steps", "800", "--explore", "1")["action-reward"]
    assert short.outcome == "undecided"
    assert "ended by itself after 800 steps" in short.reason


@pytest.mark.parametrize(
    ("flag", "arguments", "expected"),
    [
        ("--environment", (), "unrecognized arguments: --environment rldebug/ConstantReward-v0"),
        ("--env-id", ("--bogus",), "unrecognized arguments: --bogus"),
        ("--env-id", ("--steps", "0"), "ended without a step in rldebug/ConstantReward-v0"),
    ],
    ids=["flag", "argument", "no step"],
)
def test_what_cannot_be_run_is_said_with_its_last_words(flag, arguments, expected):
    with pytest.raises(TargetError, match=expected):
        climb_ladder(target("agent.py", flag, arguments), probes=["action-reward"])


def test_a_script_that_breaks_down_on_the_way():
    broken = SCRIPT.replace(
        "    row[action] +=", "    if len(value) > 1: raise ArithmeticError('two')\n    row[action] +="
    )
    Path("agent.py").write_text(broken, encoding="utf-8")
    rung = climbed(probes=["observed-action-reward"])["observed-action-reward"]
    assert rung.outcome == "crashed"
    assert "ended with status 1 after" in rung.reason
    assert "ArithmeticError: two" in rung.reason


def test_a_script_that_is_not_made_for_such_actions():
    rung = climbed(probes=["multi-discrete-action"])["multi-discrete-action"]
    assert rung.outcome == "not applicable"
    assert "before its first step" in rung.reason


def test_no_such_script():
    with pytest.raises(TargetError, match=r"none\.py: no such file"):
        target("none.py", "--env-id")


def test_the_command_line_of_a_script():
    kind = find("action-reward")
    id_ = "rldebug/ActionReward-v0"
    plain = Script("a.py", "--env", ("--seed", "{seed}"))
    assert plain.command(kind, 3) == [sys.executable, "a.py", "--env", id_, "--seed", "3"]
    assert Script("a.py", "env.id=", ()).command(kind, 0)[2:] == [f"env.id={id_}"]


def test_the_child_and_its_folder_are_gone_when_it_is_closed():
    child = Child(
        target("agent.py", "--env-id").make.command(find("action-reward"), 0), Factory(find("action-reward")())
    )
    child.learn(10)
    assert len(child.factory.log) >= 10
    child.close()
    assert child.process.returncode is not None
    assert not child.folder.exists()


def test_updates_are_waited_for_where_they_are_seen(tmp_path):
    """Steps before the first update were played by chance: they are forgotten."""
    folder = tmp_path / "steps"
    folder.mkdir()
    child = object.__new__(Child)
    child.folder, child.factory, child.script, child.env = folder, Factory(find("action-reward")()), "s", "e"
    child.waiting = []
    child.files, child.rest, child.updates, child.warm, child.over = {}, {}, 0, False, False

    class Running:
        looks = 0

        def poll(self):
            self.looks += 1
            with (folder / "0.steps").open("a", encoding="utf-8") as out:
                out.write("0 1.0 1.0 1 1\n" * 100)
            (folder / "1.updates").write_bytes(b"." * max(0, self.looks - 3) * 30)

    child.process = Running()
    child.learn(150)
    assert child.updates >= 30
    assert len(child.factory.log) == 150
    child.files[0].close()


def test_a_failure_by_acting_at_random_is_none_unless_it_came_to_its_own_end():
    def rung(error, reason="off by 100% and no longer getting nearer"):
        attempt = Attempt(0, "failed", reason, 5000, 0, None, None, 1.0, error, 0.0)
        return Rung("action-reward", 4, "", "policy", "failed", reason, attempts=(attempt, attempt))

    review = Script("a.py", "--env", ()).review
    assert review(rung(1.0)).outcome == "undecided"
    assert review(rung(2.0)).outcome == "failed"
    assert review(rung(1.0, "off by 100% in the end: the script ended by itself")).outcome == "failed"
