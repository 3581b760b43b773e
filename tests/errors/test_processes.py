"""Errors between processes and ranks: M087–M101, and their relatives."""

from __future__ import annotations

import collections
import faulthandler
import io
import logging
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import resource_sharer
from unittest import mock

import gymnasium as gym
import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from rldebug.diagnose import diagnose
from rldebug.evidence.crash import crash_from_text, crash_of
from tests.errors.cases import cases_in, check, raises

SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture(autouse=True)
def _no_thread_stays():
    """Sending a tensor starts a thread that shares its memory; programs with threads are watched less closely."""
    yield
    resource_sharer.stop()


FORK = multiprocessing.get_context("fork")


def work(*given):
    return given


class Corridor(gym.Env):
    """As wide as it is made."""

    action_space = gym.spaces.Discrete(2)

    def __init__(self, width=2, log=None):
        self.observation_space = gym.spaces.Box(-1, 1, (width,))
        self.width, self.log = width, log

    def reset(self, *, seed=None, options=None):
        return np.zeros(self.width, np.float32), {}

    def step(self, action):
        return np.zeros(self.width, np.float32), 0.0, False, False, {}


# ── what cannot be sent ─────────────────────────────────────────────────────────────────────────────────────────────


@raises("M090 lock in a dict", "MPR401", "settings['guards'][0], a _thread.lock,")
def m090_lock_in_a_dict():
    settings = {"guards": [threading.Lock()]}
    SPAWN.Process(target=work, args=(settings,)).start()  # here


@raises("M090 environment holds a handler", "MPR401", "env.log, a StreamHandler,", "_thread.RLock lies at env.log.lock")
def m090_environment_holds_a_handler():
    env = Corridor(log=logging.StreamHandler())
    SPAWN.Process(target=work, args=(env,)).start()  # here


@raises("M090 factory closes over it", "MPR401", "shown, a StreamHandler,")
def m090_factory_closes_over_it():
    shown = logging.StreamHandler()
    gym.vector.AsyncVectorEnv([lambda: Corridor(log=shown)], context="spawn")  # here


class Trainer:
    def __init__(self):
        self.stop = threading.Event()
        self.rates = (each / 10 for each in range(3))

    def act(self):
        return self.stop

    def start(self):
        SPAWN.Process(target=self.act).start()


@raises("M090 the target is a method", "MPR401", "self.stop", "its whole Trainer is sent")
def m090_the_target_is_a_method():
    Trainer().start()


@raises("M090 generator", "MPR401", "frames", "send list(frames)")
def m090_generator():
    ours, _theirs = multiprocessing.Pipe()
    frames = (each for each in range(3))
    ours.send(frames)  # here


@raises("M090 local function", "MPR401", "make, a local function,", "top of the file")
def m090_local_function():
    def make():  # here
        return Corridor()

    SPAWN.Process(target=make).start()


@raises("M090 lambda of another line", "MPR401", "a lambda,", "it is written in test_processes.py:")
def lambda_for_a_process():
    jobs = {"far": lambda: Corridor(9)}  # here
    start = multiprocessing.get_context("spawn").Process(target=print, args=(jobs["far"],))
    start.start()


@raises("M090 factory of a defaultdict", "MPR401", "visits.default_factory, a lambda,")
def m090_factory_of_a_defaultdict():
    visits = collections.defaultdict(lambda: 0)  # here
    SPAWN.Process(target=work, args=(visits,)).start()


@raises("M090 pool", "MPR401", "args[0]", "_thread.lock")
def m090_pool():
    with FORK.Pool(1) as pool:
        pool.apply_async(work, (threading.Lock(),)).get()  # here


@raises("M090 executor", "MPR401", "trainer.", "lies at trainer.")
def m090_executor():
    trainer = Trainer()
    with ProcessPoolExecutor(1, mp_context=FORK) as pool:
        pool.submit(work, trainer).result()  # here


@raises("M090 queue in a message", "MPR401", "Process(args=…)")
def m090_queue_in_a_message():
    ours, _theirs = multiprocessing.Pipe()
    answers = SPAWN.Queue()
    ours.send(("start", answers))  # here


@raises("M090 partial of a method", "MPR401", "buffer.guard")
def m090_partial_of_a_method():
    buffer = Guarded()
    SPAWN.Process(target=partial(buffer.fill, 3)).start()  # here


class Guarded:
    def __init__(self):
        self.guard = threading.RLock()

    def fill(self, rows):
        return rows


@raises("M093", "MPR450", "values is (4, 1) float32 with a graph", "values.detach()", "critic(observations)")
def m093():
    critic, observations = nn.Linear(3, 1), torch.zeros(4, 3)
    values = critic(observations)
    ours, _theirs = torch.multiprocessing.Pipe()
    ours.send(values)  # here


@raises("M093 in a rollout", "MPR450", "rollout['logp'][1]", "rollout['logp'][1].detach()")
def m093_in_a_rollout():
    policy = nn.Linear(3, 2)
    rollout = {"obs": torch.zeros(2, 3), "logp": [torch.zeros(2), policy(torch.zeros(3)).log_softmax(-1)]}
    torch.multiprocessing.SimpleQueue().put(rollout)  # here


@raises("M093 recurrent state of an agent", "MPR450", "agent.state")
def m093_recurrent_state_of_an_agent():
    agent = Recurrent()
    agent.state = agent.cell(torch.zeros(1, 2), torch.zeros(1, 3))
    SPAWN.Process(target=work, args=(agent,)).start()  # here


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(2, 3)
        self.state = None


@raises("X540 fds_to_keep", "MPR451", "rows[0] and rows[1]", ".unbind()", "clone()", only_text=True)
def x540_fds_to_keep():
    table = torch.zeros(4, 3)
    rows = table.unbind(0)
    process = SPAWN.Process(target=work, args=(list(rows[:2]),))
    # PyTorch hands a memory over once by now; older versions did so for each of its views.
    with mock.patch("multiprocessing.util.spawnv_passfds", side_effect=ValueError("bad value(s) in fds_to_keep")):
        process.start()  # here


@raises("X540 columns", "MPR451", "first and second", "slicing", only_text=True)
def x540_columns():
    table = torch.zeros(4, 3)
    first = table[:, 0]
    second = table[:, 1]
    with mock.patch("multiprocessing.util.spawnv_passfds", side_effect=ValueError("bad value(s) in fds_to_keep")):
        SPAWN.Process(target=work, args=(first, second)).start()  # here


IN_A_NOTEBOOK = """
Process SpawnPoolWorker-1:
Traceback (most recent call last):
  File "/usr/lib/python3.11/multiprocessing/process.py", line 314, in _bootstrap
    self.run()
  File "/usr/lib/python3.11/multiprocessing/pool.py", line 114, in worker
    task = get()
  File "/usr/lib/python3.11/multiprocessing/queues.py", line 367, in get
    return _ForkingPickler.loads(res)
AttributeError: Can't get attribute 'rollout' on <module '__main__' (built-in)>
"""


def test_a_function_that_the_worker_does_not_find():
    crash = crash_from_text(IN_A_NOTEBOOK)
    assert crash is not None
    (finding,) = diagnose([crash]).roots
    assert finding.code == "MPR401"
    assert "'rollout'" in finding.message
    assert "notebook" in finding.help


# ── who does not answer ─────────────────────────────────────────────────────────────────────────────────────────────


def raise_at_once(pipe):
    sys.stderr = io.StringIO()
    raise ValueError("of the worker")


def die(pipe, number):
    faulthandler.disable()
    os.kill(os.getpid(), number)


@raises("M091 it raised", "MPR402", "ended with exit code 1", "its own traceback stands above")
def m091_it_raised():
    ours, theirs = FORK.Pipe()
    FORK.Process(target=raise_at_once, args=(theirs,), name="actor-0").start()
    theirs.close()
    ours.recv()  # here


@raises("M091 it was killed", "MPR402", "actor-1 was killed by SIGKILL", "memory")
def m091_it_was_killed():
    ours, theirs = FORK.Pipe()
    FORK.Process(target=die, args=(theirs, signal.SIGKILL), name="actor-1").start()
    theirs.close()
    ours.recv()  # here


@raises("M091 a simulator crashed", "MPR402", "actor-2 was killed by SIGABRT", "faulthandler")
def m091_a_simulator_crashed():
    ours, theirs = FORK.Pipe()
    FORK.Process(target=die, args=(theirs, signal.SIGABRT), name="actor-2").start()
    theirs.close()
    ours.recv()  # here


@raises("M091 broken pipe", "MPR402", "BrokenPipeError")
def m091_broken_pipe():
    ours, theirs = multiprocessing.Pipe()
    theirs.close()
    ours.send("step")  # here


def stop_hard():
    os._exit(3)


@raises("M091 executor", "MPR402", "BrokenProcessPool")
def m091_executor():
    with ProcessPoolExecutor(1, mp_context=FORK) as pool:
        pool.submit(stop_hard).result()  # here


@raises("M091 torch spawn", "MPR402", "SIGKILL", "memory", only_text=True)
def m091_torch_spawn():
    told = {"error_index": 1, "error_pid": 7, "exit_code": -9, "signal_name": "SIGKILL"}
    raise torch.multiprocessing.ProcessExitedException("process 1 terminated with signal SIGKILL", **told)  # here


@raises("M091 data loader", "MPR402", "memory", only_text=True)
def m091_data_loader():
    raise RuntimeError("DataLoader worker (pid 4711) is killed by signal: Killed. ")  # here


class ActorDiedError(Exception):
    pass


@raises("M091 Ray", "MPR402", only_text=True)
def m091_ray():
    raise ActorDiedError(  # here
        "The actor died unexpectedly before finishing this task.\n\tclass_name: Rollout\n\tactor_id: 1f"
    )


@pytest.mark.filterwarnings("ignore:.*(Received the following error|Shutting it down|Raising the last|Traceback)")
def test_the_error_of_an_async_worker_comes_first():
    """Gymnasium sends it to the parent, which raises it anew: the place in the environment is what counts."""
    envs = gym.vector.AsyncVectorEnv([Broken])
    try:
        envs.reset()
        with pytest.raises(ZeroDivisionError) as caught:
            envs.step([0])
        told = crash_of(caught.value)
    finally:
        envs.close(terminate=True)
    assert told.at is not None
    assert "1 / self.zero" in told.at.source


class Broken(Corridor):
    zero = 0

    def step(self, action):
        return 1 / self.zero


# ── start methods ───────────────────────────────────────────────────────────────────────────────────────────────────

CUDA_FORKED = (
    "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start "
    "method"
)


@raises("M087", "MPR452", 'context="spawn"', only_text=True)
def m087():
    raise RuntimeError(CUDA_FORKED)  # here


UNGUARDED = """
import multiprocessing
def work(): pass
multiprocessing.get_context("spawn").Process(target=work).start()
"""


def test_m088_training_without_a_main_guard(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(UNGUARDED, encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
    crash = crash_from_text(done.stderr)
    assert crash is not None, done.stderr
    (finding,) = diagnose([crash]).roots
    assert finding.code == "MPR453"
    assert finding.where.line == 4
    assert 'if __name__ == "__main__":' in finding.help


# ── vector environments ─────────────────────────────────────────────────────────────────────────────────────────────


@raises("M094", "MPR454", "on envs", "step_wait()")
def m094():
    envs = gym.vector.AsyncVectorEnv([Corridor, Corridor])
    envs.reset()
    try:
        envs.step_async([0, 0])
        envs.step_async([1, 1])  # here
    finally:
        envs.close(terminate=True)


@raises("M094 nothing asked", "MPR454", "step_async() first")
def m094_nothing_asked():
    envs = gym.vector.AsyncVectorEnv([Corridor])
    envs.reset()
    try:
        envs.step_wait()  # here
    finally:
        envs.close(terminate=True)


@raises("M095", "ENV450", "envs was used after it had been closed", "envs.close() stands in line")
def m095():
    envs = gym.vector.AsyncVectorEnv([Corridor])
    envs.reset()
    envs.close()
    envs.step([0])  # here


@raises("M096", "ENV451", "it is number 1")
def m096():
    gym.vector.AsyncVectorEnv([Corridor, partial(Corridor, 3)])  # here


@raises("M096 in one process", "ENV451", "(2,)", "(3,)")
def m096_in_one_process():
    gym.vector.SyncVectorEnv([lambda width=width: Corridor(width) for width in (2, 3)])  # here


# ── ranks ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = nn.Linear(2, 2), nn.Linear(2, 1)

    def forward(self, observations, value=False):
        return self.critic(observations) if value else self.actor(observations)


@raises("M097", "MPR455", "critic takes no part in the loss", "critic.weight, critic.bias", "find_unused_parameters")
def m097():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        model = DistributedDataParallel(ActorCritic())
        for _step in range(2):
            model(torch.ones(3, 2)).sum().backward()  # here
    finally:
        dist.destroy_process_group()


@raises("M097 twice", "MPR455", "no_sync()", only_text=True)
def m097_twice():
    raise RuntimeError(  # here
        "Expected to mark a variable ready only once. This error is caused by one of the following reasons: 1) Use of "
        "a module parameter outside the `forward` function."
    )


@raises("M099", "MPR456", "all_reduce() was called without a process group", "is_initialized()")
def m099():
    kl = torch.ones(1)
    dist.all_reduce(kl)  # here


@raises("M099 no launcher", "MPR457", "RANK is not set", "torchrun")
def m099_no_launcher():
    with mock.patch.dict(os.environ):
        os.environ.pop("RANK", None)
        dist.init_process_group("gloo")  # here


@raises("X541 no NCCL", "INS450", "gloo")
def x541_no_nccl():
    if dist.is_nccl_available():
        raise RuntimeError("Distributed package doesn't have NCCL built in")
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)  # here


@raises("X542 the port is taken", "MPR459", "is taken", "--master_port")
def x542_the_port_is_taken():
    first = dist.TCPStore("127.0.0.1", 0, 1, is_master=True)
    dist.TCPStore("127.0.0.1", first.port, 1, is_master=True)  # here


WATCHDOG = (
    "[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=814, OpType=ALLREDUCE, NumelIn=1, "
    "NumelOut=1, Timeout(ms)=600000) ran for 600026 milliseconds before timing out."
)


@raises("M100", "MPR403", "collective 814", "ALLREDUCE of one number", only_text=True)
def m100():
    raise RuntimeError(WATCHDOG)  # here


@raises("X543 shared memory", "MPR458", "--shm-size", only_text=True)
def x543_shared_memory():
    raise RuntimeError("unable to write to file </torch_4711_1234_0>: No space left on device (28)")  # here


# ── too little to draw from ─────────────────────────────────────────────────────────────────────────────────────────


class Replay:
    def __init__(self):
        self.memory = collections.deque(maxlen=100)

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)


@raises("M101", "BUF402", "memory holds 3", "batch_size is 32")
def m101():
    memory, batch_size = [(0, 1), (1, 0), (0, 0)], 32
    random.sample(memory, batch_size)  # here


@raises("M101 of a class", "BUF402", "self.memory holds 0", "if len(self.memory) >= batch_size")
def m101_of_a_class():
    Replay().sample(8)


@raises("M101 without replacement", "BUF402", "stored is 2", "batch is 64")
def m101_without_replacement():
    stored, batch = 2, 64
    np.random.default_rng(0).choice(stored, batch, replace=False)  # here


@pytest.mark.parametrize("case", cases_in(globals()), ids=lambda case: case.id)
def test_it_is_explained(case):
    check(case)
