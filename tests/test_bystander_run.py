"""`rldebug run` changes nothing: every base of the zoo, and Stable-Baselines3, with and without it."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from rldebug.benchmark.corpus import read_corpus
from rldebug.benchmark.program import arguments, lay_out
from rldebug.evidence.timings.reading import read_timing

ROOT = Path(__file__).parent.parent
CORPUS = read_corpus(ROOT / "bench" / "bugs" / "corpus")
PROGRAM = ROOT / "tests" / "bystander_program.py"
SERVER = ROOT / "tests" / "bystander_server.py"
MARK = "== bystander "
STEPS = 60
SB3_PROGRAM = ROOT / "tests" / "programs" / "sb3_small.py"
LOOP = """
import sys
import gymnasium as gym, numpy as np, torch
torch.manual_seed(1 if "seed" in sys.argv else 0)
own = np.random.default_rng(5)
env = gym.make("CartPole-v1")
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
obs, _ = env.reset(seed=0)
for step in range(20):
    out = net(torch.as_tensor(obs))
    obs, _, over, _, _ = env.step(int(out.argmax()))
    if over or (step == 3 and "step" in sys.argv):
        obs, _ = env.reset(seed=step)
    if step == 2 and "draw" in sys.argv:
        own.random()
    optimizer.zero_grad()
    out.square().sum().backward()
    optimizer.step()
"""
SB3 = ("ppo", "dqn", "sac", "td3")
# Every phase is audited as far as 100 % allow: the hooks of audits are those that could do harm.
OPTIONS = ("--overhead-budget", "1.0", "--record-only")
PROFILES = (("profile", "--no-yardstick", "--quiet"), ("run", "--profile", *OPTIONS))


@pytest.fixture(scope="module")
def python():
    """Runs a job: see bystander_server.py."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "COLUMNS": "100"}
    for name in ("RANK", "WORLD_SIZE"):
        env.pop(name, None)
    server = subprocess.Popen(
        [sys.executable, str(SERVER)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def run(folder, *words):
        folder.mkdir()
        server.stdin.write(json.dumps([str(folder), [str(each) for each in words]]) + "\n")
        server.stdin.flush()
        status = server.stdout.readline()
        return status, (folder / "stdout").read_text(), (folder / "stderr").read_text()

    with server:  # closes its stdin, which ends it
        yield run


def told(ran):
    """What the program printed, and what it came to; and each of the processes it started."""
    status, out, err = ran
    lines = out.splitlines()
    digests = sorted(line.removeprefix(MARK) for line in lines if line.startswith(MARK))
    assert digests, f"ended with {status}\n{out[-2000:]}\n{err[-4000:]}"
    return [line for line in lines if not line.startswith(MARK)], [json.loads(each) for each in digests]


def differences(one, two):
    """Of two runs. What is held by whoever watches may be there in addition, and nothing may be missing."""
    (printed, expected), (printed_watched, found) = one, two
    if len(expected) != len(found):
        return [f"{len(expected)} processes have told, and {len(found)} with rldebug"]
    wrong = [] if printed == printed_watched else ["what it printed"]
    for bare, watched in zip(expected, found, strict=True):
        for name, value in bare.items():
            if name in ("generators", "modules"):
                missing = Counter(value) - Counter(watched[name])
                wrong += [f"{name}: {dict(missing)}"] if missing else []
            elif value != watched[name]:
                wrong.append(f"{name}: {value} became {watched[name]}")
    return wrong


def compare(python, program, folder):
    """With and without, the same; and with it, it was watched: else that would prove nothing."""
    runs = folder / "runs"
    bare = told(python(folder / "bare", PROGRAM, *program))
    ran = python(folder / "watched", "-m", "rldebug", "run", *OPTIONS, "--folder", runs, PROGRAM, *program)
    watched = told(ran)
    wrong = differences(bare, watched)
    if wrong and differences(bare, told(python(folder / "again", PROGRAM, *program))):
        pytest.skip("differs from itself, without rldebug: its threads race")
    assert not wrong, "\n".join(wrong)
    run = next(runs.iterdir())
    broken = json.loads((run / "run.json").read_text()).get("broken")
    assert not broken, broken
    if any(each["steps"] for each in watched[1]):
        assert list((run / "audits").glob("*.npz")), ran[2][-2000:]


def quick_and_slow(bases, every=6):
    """Every sixth at once, and all of them with -m slow: each is run twice, in processes of its own."""
    return [
        pytest.param(each, id=each.name, marks=() if place % every == 1 else pytest.mark.slow)
        for place, each in enumerate(bases)
    ]


@pytest.mark.parametrize("base", quick_and_slow(CORPUS.bases))
def test_every_base_of_the_zoo_is_left_alone(base, python, tmp_path):
    if base.missing():
        pytest.skip(base.missing())
    case = next(each for each in CORPUS.controls if each.base is base and each.name == "healthy")
    folder = tmp_path / "program"
    folder.mkdir()
    lay_out(case, folder)
    compare(python, [STEPS, folder / base.entry, *arguments(case)], tmp_path)


@pytest.mark.parametrize("algorithm", SB3)
def test_stable_baselines_is_left_alone(algorithm, python, tmp_path):
    pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is in the extra `sb3`, which is not installed")
    compare(python, [STEPS, SB3_PROGRAM, algorithm], tmp_path)


@pytest.mark.parametrize("words", PROFILES, ids=" ".join)
@pytest.mark.parametrize("base", quick_and_slow(CORPUS.bases, every=len(CORPUS.bases)))
def test_a_profile_leaves_every_base_alone(base, words, python, tmp_path):
    if base.missing():
        pytest.skip(base.missing())
    case = next(each for each in CORPUS.controls if each.base is base and each.name == "healthy")
    folder, runs = tmp_path / "program", tmp_path / "runs"
    folder.mkdir()
    lay_out(case, folder)
    program = [PROGRAM, STEPS, folder / base.entry, *arguments(case)]
    bare = told(python(tmp_path / "bare", *program))
    profiled = told(python(tmp_path / "profiled", "-m", "rldebug", *words, "--folder", runs, *program))
    wrong = differences(bare, profiled)
    if wrong and differences(bare, told(python(tmp_path / "again", *program))):
        pytest.skip("differs from itself, without rldebug: its threads race")
    assert not wrong, "\n".join(wrong)
    run = next(runs.iterdir())
    timing = read_timing(run)
    assert not timing.problems
    assert timing.slices, "nothing was sampled: that would prove nothing"
    assert not json.loads((run / "run.json").read_text()).get("broken")


def test_a_program_that_is_not_left_alone_is_noticed(python, tmp_path):
    """The comparison itself: another seed, one more draw from a generator of its own, one more step of the env."""
    script = tmp_path / "loop.py"
    script.write_text(LOOP)
    runs = [
        told(python(tmp_path / name, PROGRAM, 8, script, *args))
        for name, args in {"one": (), "two": (), "seed": ("seed",), "draw": ("draw",), "step": ("step",)}.items()
    ]
    assert runs[0][1][0]["steps"] == 8
    assert not differences(runs[0], runs[1])
    assert any(each.startswith("weights") for each in differences(runs[0], runs[2]))
    assert [each.split(":")[0] for each in differences(runs[0], runs[3])] == ["generators"]
    assert any(each.startswith("env_sequence") for each in differences(runs[0], runs[4]))
