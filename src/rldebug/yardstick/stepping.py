"""Environments stepped in a child process: what a step costs there. The child prints a line for each number it has."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from time import perf_counter
from typing import Any

TRIVIAL = "CartPole-v1"
CODE = "from rldebug.yardstick.stepping import main; main()"


def stepped(spec: str, lanes: int, seconds: float) -> dict[str, float]:
    """Name -> seconds, of all that the child has measured in the time it is given."""
    with tempfile.TemporaryFile("w+") as told:
        child = subprocess.Popen(
            [sys.executable, "-c", CODE, spec, str(lanes)],
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "SDL_VIDEODRIVER": "dummy"},
            start_new_session=True,
        )
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            _end(child)
        told.seek(0)
        return dict(_numbers(told.read()))


def _numbers(text: str) -> Iterator[tuple[str, float]]:
    for line in text.splitlines():
        with contextlib.suppress(ValueError, TypeError):  # an environment may print as well
            name, number = json.loads(line)
            yield str(name), float(number)


def _end(child: subprocess.Popen[bytes]) -> None:
    """With the workers that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    child.wait()


# ---- in the child ----


def main() -> None:
    spec, lanes = sys.argv[1], int(sys.argv[2])
    _tell("sync", _vector("SyncVectorEnv", TRIVIAL, lanes))
    _tell("async", _vector("AsyncVectorEnv", TRIVIAL, lanes))
    if spec:
        for name, number in _alone(spec).items():
            _tell(name, number)
        _tell("env_sync", _vector("SyncVectorEnv", spec, lanes))
        _tell("env_async", _vector("AsyncVectorEnv", spec, lanes))


def _tell(name: str, number: float) -> None:
    print(json.dumps([name, number]), flush=True)


def _make(spec: str) -> Any:
    import gymnasium

    if spec.startswith("ALE/"):
        import ale_py  # noqa: F401  registers them
    return gymnasium.make(spec)


def _alone(spec: str) -> dict[str, float]:
    """The mean, not the best: an environment's steps differ, and a run has all of them."""
    env = _make(spec)
    env.action_space.seed(0)
    env.reset(seed=0)
    actions = [env.action_space.sample() for _ in range(64)]
    stepping, resetting, steps, resets = 0.0, 0.0, 0, 0
    until = perf_counter() + 0.1
    while perf_counter() < until or not steps:
        began = perf_counter()
        _, _, terminated, truncated, _ = env.step(actions[steps % 64])
        stepping += perf_counter() - began
        steps += 1
        if terminated or truncated:
            began = perf_counter()
            env.reset()
            resetting += perf_counter() - began
            resets += 1
    env.close()
    return {"env": stepping / steps} | ({"env_reset": resetting / resets} if resets else {})


def _vector(kind: str, spec: str, lanes: int) -> float:
    """Seconds per step and environment."""
    import gymnasium

    envs = getattr(gymnasium.vector, kind)([lambda: _make(spec)] * lanes)
    envs.action_space.seed(0)
    envs.reset(seed=0)
    actions = [envs.action_space.sample() for _ in range(64)]
    for action in actions[:8]:
        envs.step(action)
    steps, began = 0, perf_counter()
    while perf_counter() < began + 0.08 or not steps:
        envs.step(actions[steps % 64])
        steps += 1
    took = perf_counter() - began
    envs.close()
    return float(took / steps / lanes)
