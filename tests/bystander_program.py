"""Runs a training program, stops it after so many optimizer steps, and prints what it has come to: see digests().

    python tests/bystander_program.py STEPS SCRIPT [ARGS…]
    rldebug run tests/bystander_program.py STEPS SCRIPT [ARGS…]

Both must print the same. It knows nothing of rldebug, but that its own clock is not to be touched.
"""

import gc
import hashlib
import json
import os
import pickle
import random
import runpy
import sys
import threading
import time

import numpy as np
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

MARK = "== bystander "
MUCH = 3000  # calls of environments
WATCHING = tuple(f"rldebug.{each}" for each in ("capture", "collect", "follow", "launch", "record", "run"))
# Watching takes time, and programs print how long they took: theirs is a clock that ticks when it is looked at.
_ticks = {"time": 1.7e9, "perf_counter": 0.0}
_REAL = {name: getattr(time, name) for name in ("time", "perf_counter", "time_ns", "perf_counter_ns")}


def _tick(name):
    whole, real = name.removesuffix("_ns"), _REAL[name]

    def clock():
        if sys._getframe(1).f_globals.get("__name__", "").startswith(WATCHING):
            return real()
        _ticks[whole] += 0.001
        return int(_ticks[whole] * 1e9) if name.endswith("_ns") else _ticks[whole]

    return clock


def seed_the_unseeded():
    """What is seeded by the operating system would differ from one run to the next. Numpy's and Python's alike."""
    drawn = {}

    def draw(bits):
        """By who asks, and how often: that somebody else asks too must not change it."""
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename in (__file__, random.__file__):
            frame = frame.f_back
        who = (frame.f_code.co_filename, frame.f_lineno)
        drawn[who] = drawn.get(who, 0) + 1
        return int.from_bytes(hashlib.sha256(f"{who} {drawn[who]} {bits}".encode()).digest(), "big") % (1 << bits)

    seed = random.Random.seed

    def reseed(self, a=None, version=2):
        return seed(self, draw(64) if a is None else a, version)

    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    np.random.bit_generator.randbits = draw
    random.Random.seed = reseed


def digest(value):
    """Of numbers, containers and arrays: the same for the same bits."""
    found = hashlib.blake2b(digest_size=8)
    _feed(found, value, 0)
    return found.hexdigest()


def _feed(found, value, depth):
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        _feed(found, value.numpy() if value.dtype != torch.bfloat16 else value.float().numpy(), depth)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        found.update(f"{value.dtype}{value.shape}".encode() + np.ascontiguousarray(value).tobytes())
    elif isinstance(value, dict):
        for key, each in value.items():
            found.update(str(key).encode())
            _feed(found, each, depth + 1)
    elif isinstance(value, (list, tuple)) and depth < 8:
        found.update(f"{type(value).__name__}{len(value)}".encode())
        for each in value:
            _feed(found, each, depth + 1)
    elif isinstance(value, (bool, int, float, str, bytes, np.generic, type(None))):
        found.update(repr(value).encode())
    else:
        found.update(type(value).__name__.encode())


class Calls:
    """Every call of `reset` and `step` of an object that has both, and what it returned: also of those inside others.

    Seen by the interpreter's profiler, and not by anything put in their place: that is what is being tested.
    """

    def __init__(self):
        self.count = 0
        self.found = hashlib.blake2b(digest_size=8)
        self._main = threading.get_ident()

    def __call__(self, frame, event, result):
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if code.co_name not in ("step", "reset") or not code.co_argcount or threading.get_ident() != self._main:
            return
        if frame.f_globals.get("__name__", "").startswith("rldebug.capture"):
            return  # its log of environments has a `reset` and a `step` too
        given = frame.f_locals
        owner = type(given.get(code.co_varnames[0]))
        if not (hasattr(owner, "step") and hasattr(owner, "reset")):
            return
        self.count += event == "call"
        self.found.update(f"{event} {owner.__name__}.{code.co_name}".encode())
        names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        _feed(self.found, [given.get(name) for name in names] if event == "call" else result, 0)


class Steps:
    """Ends the program after so many optimizer steps; after a third of them where it plays much in between."""

    def __init__(self, limit):
        self.limit = limit
        self.process = os.getpid()
        self.count = 0
        self.optimizers = {}
        self.told = None

    def __call__(self, optimizer, args, kwargs):
        self.count += 1
        self.optimizers.setdefault(id(optimizer), optimizer)
        enough = self.count >= self.limit or (calls.count > MUCH and 3 * self.count >= self.limit)
        if enough and self.told is None:
            self.told = digests(self)
            if os.getpid() != self.process or threading.current_thread() is not threading.main_thread():
                show(self.told)
                os._exit(0)
            raise SystemExit(0)


def digests(steps):
    things = gc.get_objects()
    for each in list(things):  # torch.Generator is not known to the collector, whoever holds one is
        if issubclass(type(each), (dict, list, tuple)):  # isinstance() would ask the object
            things += [inner for inner in (each.values() if isinstance(each, dict) else each) if is_generator(inner)]
    generators = {id(each): each for each in things if is_generator(each)}
    modules = {id(each): each for each in things if issubclass(type(each), torch.nn.Module)}
    return {
        "steps": steps.count,
        "weights": [
            digest([list(group["params"]) for group in optimizer.param_groups])
            for optimizer in steps.optimizers.values()
        ],
        "moments": [
            digest([state for group in each.param_groups for p in group["params"] if (state := each.state.get(p))])
            for each in steps.optimizers.values()
        ],
        "gradients": [
            digest([p.grad for group in each.param_groups for p in group["params"]])
            for each in steps.optimizers.values()
        ],
        "modules": sorted(f"{type(each).__name__} {digest(state_of(each))}" for each in modules.values()),
        "torch": digest(torch.get_rng_state()),
        "numpy": digest(np.random.get_state()),
        "random": digest(random.getstate()),
        "generators": sorted(digest_of_generator(each) for each in generators.values()),
        "switches": repr((
            torch.get_default_dtype(), torch.is_grad_enabled(), np.geterr(), torch.get_num_threads(),
            torch.is_anomaly_enabled(), torch.are_deterministic_algorithms_enabled(),
        )),
        "env_calls": calls.count,
        "env_sequence": calls.found.hexdigest(),
    }  # fmt: skip


def is_generator(value):
    kind = type(value)
    return issubclass(kind, (np.random.Generator, np.random.RandomState, torch.Generator, random.Random))


def digest_of_generator(generator):
    if isinstance(generator, torch.Generator):
        return "torch " + digest(generator.get_state())
    if isinstance(generator, random.Random):
        return "random " + digest(pickle.dumps(generator.getstate())) if _has_state(generator) else "random system"
    state = generator.bit_generator.state if isinstance(generator, np.random.Generator) else generator.get_state()
    return "numpy " + digest(state)


def _has_state(generator):
    return not isinstance(generator, random.SystemRandom)


def state_of(module):
    return {**dict(module.named_parameters()), **dict(module.named_buffers()), "training": module.training}


def show(told):
    sys.stdout.flush()
    print(f"\n{MARK}{json.dumps(told)}", flush=True)


def run(limit, script, args):
    steps = Steps(limit)
    register_optimizer_step_post_hook(steps)
    for name in _REAL:
        setattr(time, name, _tick(name))
    seed_the_unseeded()
    sys.argv = [script, *args]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    sys.setprofile(calls)
    ended = ""
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as error:
        ended = str(error.code)
    finally:
        sys.setprofile(None)
    show({**(steps.told or digests(steps)), "ended": ended})


calls = Calls()
if __name__ == "__main__":
    run(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
