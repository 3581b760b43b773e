"""A training script as a target: run unmodified in a child process, on a probe instead of its environment.

    rldebug probe train.py --env-flag --env-id -- --total-timesteps 20000

Only what is played is seen: action frequencies and returns decide, and rungs about values do not apply.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from rldebug.evidence.ladder import Rung
from rldebug.finding import thousands
from rldebug.probes.agent import Ended, Factory, Learner, Target
from rldebug.probes.environment import Step
from rldebug.probes.judge import IN_THE_END, LEAST_STEPS, LEAST_UPDATES
from rldebug.probes.outside import VARIABLE, count_updates, read_step, write_down
from rldebug.probes.probe import Probe
from rldebug.probes.shelf import env_id
from rldebug.target import TargetError

START = 120.0  # seconds in which the first step must have been taken, and between any two
PORTION = 30.0  # seconds that one portion may take, where the script is slow
WARM_UP = 12_000  # steps within which an optimizer should have stepped: many scripts play at random at first
UPDATES_EACH = 8  # optimizer steps in a portion: what was not updated need not be looked at again
RANDOM = (0.7, 1.3)  # errors by which acting at random cannot be told from having learned nothing
POLL = 0.02  # seconds between two looks at the files
LINES = 6  # of what the script said last

_HOOK = '''"""Written by rldebug probe, for the script it runs: makes the probes known to Gymnasium."""
import importlib.machinery, importlib.util, os, sys
here = os.path.dirname(os.path.abspath(__file__))
others = [each for each in sys.path if os.path.abspath(each or ".") != here]
shadowed = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
if shadowed is not None and shadowed.loader is not None:
    shadowed.loader.exec_module(importlib.util.module_from_spec(shadowed))
try:
    import rldebug.probes
except ImportError:
    pass
'''


def target(script: str, env_flag: str, arguments: Sequence[str] = ()) -> Target:
    """`env_flag` is the option that takes an environment's id; `{seed}` in an argument stands for the seed."""
    if not Path(script).is_file():
        raise TargetError(f"{script}: no such file")
    if not env_flag or env_flag != env_flag.strip():
        raise TargetError(f"--env-flag is {env_flag!r}, expected an option of the script, such as --env-id")
    return Target(script, Script(script, env_flag, tuple(arguments)))


class Script:
    """Runs the script anew for each attempt."""

    def __init__(self, script: str, env_flag: str, arguments: tuple[str, ...]) -> None:
        self.script, self.env_flag, self.arguments = script, env_flag, arguments

    def __call__(self, factory: Factory, seed: int, wants: frozenset[str]) -> Learner:
        child = Child(self.command(type(factory.probe), seed), factory)
        return Learner(learn=child.learn, close=child.close, updates=lambda: child.updates)

    def command(self, kind: type[Probe], seed: int) -> list[str]:
        env = env_id(kind.name)
        flag = [self.env_flag + env] if self.env_flag.endswith("=") else [self.env_flag, env]
        rest = [each.replace("{seed}", str(seed)) for each in self.arguments]
        return [sys.executable, self.script, *flag, *rest]

    def leave_out(self, kind: type[Probe]) -> str | None:
        """Why a rung does not apply, seen from outside."""
        if kind.asks == "value":
            return "values are not seen from outside a script"
        if kind.range is not None and kind.asks == "policy":
            return "a number it explores with tells too little of the one it means"
        if kind.phases > 1 or kind.autoreset is not None:
            return "this probe needs a hold of what goes on inside"
        return None

    def review(self, rung: Rung) -> Rung:
        """One that still acts at random may explore, or not have begun to learn: seen from outside, nobody can tell."""
        missed = [each for each in rung.attempts if each.outcome in ("failed", "undecided")]
        own_end = any(IN_THE_END in each.reason for each in missed)
        random = missed and all(RANDOM[0] <= each.error <= RANDOM[1] for each in missed)
        if rung.outcome not in ("failed", "undecided") or own_end or not random:
            return rung
        steps = thousands(max(each.steps for each in missed))
        reason = (
            f"it still acts about at random after {steps} steps: it may explore on purpose, or not learn. Let it "
            "come to its own end within some ten thousand steps, by options of its own after --"
        )
        return replace(rung, outcome="undecided", reason=reason)


class Child:
    """One run of a script. What it plays appears in the factory's log."""

    def __init__(self, command: Sequence[str], factory: Factory) -> None:
        self.factory, self.script = factory, command[1]
        self.env = env_id(factory.probe.name)
        self.folder = Path(tempfile.mkdtemp(prefix="rldebug-"))
        (self.folder / "sitecustomize.py").write_text(_HOOK, encoding="utf-8")
        self.said = self.folder / "said"
        told = write_down(self.folder, gamma=factory.probe.gamma, obs=factory.obs, action=factory.action)
        path = os.pathsep.join([str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])])
        with self.said.open("wb") as out:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=out,
                env={"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": path, VARIABLE: told},
                start_new_session=True,  # so that it can be ended with all that it started
            )
        self.files: dict[int, IO[str]] = {}
        self.rest: dict[int, str] = {}
        self.waiting: list[Step] = []
        self.updates = 0
        self.warm = self.over = False

    def learn(self, steps: int) -> None:
        """Wait for so many more steps, and for some updates where those are seen. Raises Ended where none will come."""
        log, before, began = self.factory.log, len(self.factory.log), time.monotonic()
        if self.over:
            raise self._ended()
        updates, moved = self.updates, began
        while True:
            running = self.process.poll() is None  # asked first: what it wrote before it ended is read below
            self._read()
            # No more than was asked for: a quick script would have used up its budget within a few looks at it.
            portion = self.waiting[: steps if self.warm else None]
            del self.waiting[: len(portion)]
            log += portion
            new, now = len(log) - before, time.monotonic()
            moved = now if portion else moved
            if self._enough(new, steps, updates, slow=now - began > PORTION):
                if not self.warm and steps > 1:
                    del log[: -min(steps, len(log))]  # played before it had learned anything
                    self.warm = True
                return
            if not running and not self.waiting:
                self.over = True
                if new == 0 or self.process.returncode != 0:
                    raise self._ended()
                return
            if now - moved > START:
                raise Ended(
                    f"{self.script} took no step in {self.env} for {START:.0f} s{self._last_words()}", broke=True
                )
            if not self.waiting:
                time.sleep(POLL)

    def close(self) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        for file in self.files.values():
            file.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _enough(self, new: int, steps: int, updates: int, *, slow: bool) -> bool:
        if new < steps:
            return slow and new > 0
        if steps <= 1 or slow:
            return True
        if self.updates == 0:
            return self.warm or new >= WARM_UP
        return self.updates - updates >= UPDATES_EACH or new >= 20 * steps

    def _read(self) -> None:
        """New lines of all files, in turn: about as they were played."""
        for file in self.folder.glob("*.steps"):
            index = int(file.stem)
            if index not in self.files:
                self.files[index], self.rest[index] = file.open(encoding="utf-8"), ""
        new: list[tuple[int, int, str]] = []
        for index, opened in self.files.items():
            *lines, self.rest[index] = (self.rest[index] + opened.read()).split("\n")
            new += [(place, index, line) for place, line in enumerate(lines)]
        for _, index, line in sorted(new):
            self.waiting.append(read_step(line, index))
        self.updates = count_updates(self.folder)

    def _ended(self) -> Ended:
        status, steps = self.process.returncode, len(self.factory.log)
        if status != 0:
            how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
            where = f" after {thousands(steps)} steps in {self.env}" if steps else f" before a step in {self.env}"
            return Ended(f"{self.script} {how}{where}{self._last_words()}", broke=True)
        if not steps:
            return Ended(
                f"{self.script} ended without a step in {self.env}: is that the option that chooses its environment?"
                f"{self._last_words()}",
                broke=True,
            )
        chance = steps >= LEAST_STEPS and self.updates >= LEAST_UPDATES
        return Ended(f"the script ended by itself after {thousands(steps)} steps", had_its_chance=chance)

    def _last_words(self) -> str:
        lines = self.said.read_text(encoding="utf-8", errors="replace").splitlines()
        kept = [line.rstrip() for line in lines if line.strip()]
        if self.factory.log and kept:  # on a rung: there is room for one
            return f"; it said last: {kept[-1].strip()}"
        return "; it said last:\n" + "\n".join(f"    {line}" for line in kept[-LINES:]) if kept else ""
