"""What every reference algorithm needs and none is about: environments, seeds, checkpoints, progress, recording.

An algorithm reads `envs`, `begin`, `iterations` and `log`, and is otherwise alone on its page:

    envs = run.envs(settings.envs)
    …                                              # networks, optimizer
    obs = run.begin(policy=policy, optimizer=optimizer)
    for _ in run.iterations(steps_each):
        …                                          # act, learn
        run.log(kl=kl)
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor

from rldebug.checkpoint import FORMAT, TrainingError, checkpoint_name, random_state, set_random_state
from rldebug.evidence.baseline import Baseline, BaselineError
from rldebug.finding import thousands
from rldebug.parts.distributed import World, total
from rldebug.parts.vector import Envs
from rldebug.render.progress import Show, clock, short
from rldebug.render.terminal import console
from rldebug.watch import Watch, watch

FOLDER = Path(".rldebug") / "train"
_WINDOW = 100  # episodes that the return shown is the mean of

Act = Callable[[Any], Any]  # from a batch of observations to a batch of actions, greedily


class Kept(Protocol):
    """What a checkpoint can hold."""

    def state_dict(self) -> Any: ...
    def load_state_dict(self, state: Any, /) -> Any: ...


@dataclass(frozen=True)
class Summary:
    algorithm: str
    env_id: str
    seed: int
    steps: int
    seconds: float
    steps_per_second: float
    interrupted: bool
    returns: float | None  # mean of the last episodes while training
    greedy: list[float]  # returns of the evaluation's episodes
    random: Baseline | None
    folder: str | None
    clean: bool | None = None  # what was recorded, by its diagnosis; None where nothing was

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        shown = {**vars(self), "random": None if self.random is None else self.random.to_dict()}
        return {name: _number(each) if isinstance(each, float) else each for name, each in shown.items()}


class Training:
    """One run of one algorithm. `checkpoint` is what `read_checkpoint` returned, where a run goes on."""

    def __init__(
        self,
        algorithm: str,
        env_id: str,
        *,
        steps: int,
        settings: Any,
        make: Callable[[], gym.Env[Any, Any]],
        by_id: bool = True,
        make_for_evaluation: Callable[[], gym.Env[Any, Any]] | None = None,
        baseline: Callable[[], Baseline] | None = None,
        seed: int = 0,
        folder: Path | None = None,
        checkpoint: Mapping[str, Any] | None = None,
        checkpoint_every: int = 100,
        record: bool = False,
        quiet: bool = False,
        world: World | None = None,
    ) -> None:
        if steps < 1:
            raise TrainingError(f"steps is {steps}, expected at least 1")
        self.algorithm, self.env_id, self.settings, self.seed = algorithm, env_id, settings, seed
        self.steps, self.checkpoint_every, self.record, self.quiet = steps, checkpoint_every, record, quiet
        self.world = world or World(0, 1, torch.device("cpu"))
        self.device = self.world.device
        self.steps_done = 0
        self.iteration = 0
        self.interrupted = False
        self.every_line = False
        self.folder = folder
        self._by_id = by_id
        self._saved = time.perf_counter()
        self._broken: set[str] = set()
        self._make, self._make_for_evaluation, self._baseline = make, make_for_evaluation or make, baseline
        self._checkpoint = checkpoint
        self._kept: dict[str, Kept] = {}
        self._envs: Envs | None = None
        self._numbers: dict[str, float] = {}
        self._window: deque[tuple[float, int]] = deque()  # sum of returns and number of episodes, by iteration
        self._dbg: Watch | None = None
        self._began = time.perf_counter()
        self._before = 0
        # Everything random draws from these; the environments have seeds of their own, episode by episode.
        torch.manual_seed(seed)
        np.random.seed(seed)
        random.seed(seed)

    # ── what an algorithm calls ──

    @property
    def fraction(self) -> float:
        """How much of the run is over, 0 to 1."""
        return min(self.steps_done / self.steps, 1.0)

    def envs(self, n: int) -> Envs:
        """Environments to train on; in a run of several processes each has `n` of its own, differently seeded."""
        self._envs = Envs(self._make, n, seed=self.seed * 1_000_003 + self.world.rank)
        return self._envs

    def begin(self, **kept: Kept) -> Any:
        """Say what a checkpoint holds. Returns the first observations: of a new run, or where a resumed one stopped."""
        assert self._envs is not None, "call envs() first"
        self._kept = kept
        if self.world.size > 1:  # networks were initialised alike; from here on every rank draws for itself
            torch.manual_seed(self.seed * 1_000_003 + 1 + self.world.rank)
        if self._checkpoint is None:
            obs, _ = self._envs.reset()
        else:
            obs = self._restore(self._checkpoint)
        self._began, self._before = time.perf_counter(), self.steps_done
        if self.world.first and not self.quiet:
            self._say_where()
        return obs

    def watch(self, **watched: Any) -> Watch | None:
        """With `--record`, rldebug watching this run; else None."""
        if self.record and self.world.first:
            self._dbg = watch(run=f"{self.algorithm}-{_plain(self.env_id)}", env=self._envs, **watched)
        return self._dbg

    def iterations(self, steps_each: int) -> Iterator[int]:
        """Rounds of acting and learning, of `steps_each` environment steps in this process, until all are done."""
        title = f"{self.algorithm} {self.env_id}"
        out = console(stderr=True)
        quiet = self.quiet or not self.world.first
        show = Show(out, title, self.steps, self.steps_done, every_line=self.every_line, quiet=quiet)
        with _interruptible() as wanted, contextlib.closing(show):
            while self.steps_done < self.steps:
                yield self.iteration
                self.iteration += 1
                self.steps_done += steps_each * self.world.size
                stop = self._count(bool(wanted))
                if self.world.first:
                    show.tick(self.iteration, self.steps_done, {**self._returns(), **self._numbers})
                    self._note()
                if stop or self._due():
                    self.save()
                if stop:
                    self.interrupted = True
                    return
        self.save()

    def log(self, **numbers: float | Tensor) -> None:
        """Numbers of this iteration, to show and to keep. Tensors are moved to the host together, once."""
        tensors = {name: each.detach() for name, each in numbers.items() if isinstance(each, Tensor)}
        if tensors:
            values = torch.stack([each.float().reshape(()) for each in tensors.values()]).tolist()
            numbers = {**numbers, **dict(zip(tensors, values, strict=True))}
        self._numbers = {name: float(each) for name, each in numbers.items()}
        broken = [name for name, each in self._numbers.items() if not np.isfinite(each) and name not in self._broken]
        if broken and self.world.first:
            self._broken.update(broken)
            what = f"{', '.join(broken)}: not finite, since iteration {self.iteration + 1}"
            hint = "" if self.record else "; nothing is learned any more, and --record says where it began"
            console(stderr=True).print(f"warning: {what}{hint}", style="yellow", soft_wrap=True)

    # ── checkpoints ──

    def save(self) -> None:
        """Write all that the rest of the run depends on, in one step: a killed process leaves the old file whole."""
        if self._folder() is None or self._envs is None:
            return
        state = {
            "format": FORMAT,
            "algorithm": self.algorithm,
            "env_id": self.env_id,
            "by_id": self._by_id,  # or made by a function, which no file can hold
            "settings": _plain_settings(self.settings),
            "seed": self.seed,
            "steps": self.steps,
            "steps_done": self.steps_done,
            "iteration": self.iteration,
            "processes": self.world.size,
            "window": [list(each) for each in self._window],
            "kept": {name: each.state_dict() for name, each in self._kept.items()},
            "envs": self._envs.state_dict(),
            "random": random_state(self.device),
        }
        self._saved = time.perf_counter()
        path = self._folder() / checkpoint_name(self.world.rank)  # type: ignore[operator]
        unfinished = path.with_suffix(".unfinished")
        try:
            torch.save(state, unfinished)
            os.replace(unfinished, path)
        except (OSError, RuntimeError) as error:  # torch reports a full disk as a RuntimeError
            unfinished.unlink(missing_ok=True)
            console(stderr=True).print(
                f"the checkpoint could not be written ({error}); training goes on", style="yellow"
            )

    def _restore(self, state: Mapping[str, Any]) -> Any:
        assert self._envs is not None
        if state["processes"] != self.world.size:
            raise TrainingError(f"the run had {state['processes']} processes, this one has {self.world.size}")
        missing = sorted(set(self._kept) ^ set(state["kept"]))
        if missing:
            raise TrainingError(f"the checkpoint does not fit this version of {self.algorithm}: {', '.join(missing)}")
        try:
            for name, each in self._kept.items():
                each.load_state_dict(state["kept"][name])
            obs, problems = self._envs.load_state_dict(state["envs"])
        except (KeyError, RuntimeError, ValueError) as error:
            reason = str(error).strip().splitlines()[-1].strip(" \t.")
            raise TrainingError(
                f"the checkpoint does not fit: {reason}. What was built with other settings cannot go on"
            ) from error
        for problem in problems:
            console(stderr=True).print(f"resumed, but not bit-exactly: {problem}", style="yellow", markup=False)
        self.steps_done, self.iteration = state["steps_done"], state["iteration"]
        self._window = deque((each[0], each[1]) for each in state["window"])
        self._forget_later_lines()
        set_random_state(state["random"], self.device)  # last: restoring draws random numbers too
        return obs

    # ── the end ──

    def close(self, act: Act | None = None, *, episodes: int = 10) -> Summary:
        """Diagnose what was recorded, evaluate greedily, compare with the random policy."""
        seconds = time.perf_counter() - self._began
        report = None if self._dbg is None else self._dbg.close()
        if self._envs is not None:
            self._envs.close()
        greedy = self.evaluate(act, episodes) if act is not None and self.world.first else []
        done = self.steps_done - self._before
        returns = self._returns().get("return")
        summary = Summary(
            algorithm=self.algorithm,
            env_id=self.env_id,
            seed=self.seed,
            steps=self.steps_done,
            seconds=seconds,
            steps_per_second=done / max(seconds, 1e-9),
            interrupted=self.interrupted,
            returns=returns,
            greedy=greedy,
            random=self._random(),
            folder=None if self.folder is None else str(self.folder),
            clean=None if report is None else report.clean,
        )
        if self.world.first and not self.quiet:
            _print(summary)
        return summary

    def evaluate(self, act: Act, episodes: int, *, most_steps: int = 30_000) -> list[float]:
        """Returns of whole episodes, one in each of `episodes` environments: none is left out for being long."""
        envs = Envs(self._make_for_evaluation, episodes, seed=self.seed + 2**32)  # not the seeds of training
        obs, _ = envs.reset()
        returns: dict[int, float] = {}
        running = np.zeros(episodes)  # of the wrapped environment; made for evaluation, its rewards are not clipped
        for _ in range(most_steps // episodes):
            obs, reward, terminated, truncated, _ = envs.step(act(obs))
            running += reward
            for i in np.flatnonzero(terminated | truncated):
                returns.setdefault(int(i), float(running[i]))
            if len(returns) == episodes:
                break
        envs.close()
        return list(returns.values())

    # ── inside ──

    def _count(self, stop: bool) -> bool:
        """Episodes that ended in this iteration, over all processes; and whether any of them was asked to stop."""
        assert self._envs is not None
        ended, self._envs.finished = self._envs.finished, []
        sums = {"returns": sum(each[0] for each in ended), "episodes": float(len(ended)), "stop": float(stop)}
        if self.world.size > 1:
            sums = total(sums, self.world)
        if sums["episodes"]:
            self._window.append((sums["returns"], int(sums["episodes"])))
        while len(self._window) > 1 and sum(each[1] for each in self._window) - self._window[0][1] >= _WINDOW:
            self._window.popleft()
        return sums["stop"] > 0

    def _returns(self) -> dict[str, float]:
        episodes = sum(each[1] for each in self._window)
        return {"return": sum(each[0] for each in self._window) / episodes} if episodes else {}

    def _say_where(self) -> None:
        out = console(stderr=True)
        if self.folder is not None:
            out.print(f"kept in {self.folder}", style="dim", markup=False, soft_wrap=True)
        if self.steps_done >= self.steps:
            text = f"nothing left to do: the run has its {thousands(self.steps_done)} steps; --steps N goes further"
            out.print(text, style="yellow")

    def _due(self) -> bool:
        """Every so many iterations; and every minute, so that a killed run of long iterations loses little."""
        if not self.checkpoint_every:
            return False
        late = time.perf_counter() - self._saved > 60.0 and self.world.size == 1  # ranks must agree, and clocks do not
        return late or self.iteration % self.checkpoint_every == 0

    def _random(self) -> Baseline | None:
        if self._baseline is None or not self.world.first:
            return None
        try:
            return self._baseline()
        except BaselineError as error:  # training is over: what could not be compared must not lose it
            console(stderr=True).print(f"no random baseline: {error}", style="yellow", markup=False)
            return None

    def _note(self) -> None:
        folder = self._folder()
        if folder is not None:
            line = {"iteration": self.iteration, "steps": self.steps_done, **self._returns(), **self._numbers}
            with open(folder / "progress.jsonl", "a", encoding="utf-8") as file:
                file.write(json.dumps({name: _number(each) for name, each in line.items()}) + "\n")

    def _forget_later_lines(self) -> None:
        """A run that was killed went on after its last checkpoint: those iterations are played again."""
        file = None if self.folder is None else self.folder / "progress.jsonl"
        if file is None or not file.is_file() or not self.world.first:
            return
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        file.write_text("".join(lines[: self.iteration]), encoding="utf-8")

    def _folder(self) -> Path | None:
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder


def new_folder(algorithm: str, env_id: str, seed: int, root: Path = FOLDER) -> Path:
    """A folder that does not exist yet: a run never overwrites another."""
    name = f"{algorithm}-{_plain(env_id)}-{seed}"
    tries = (root / (name if i == 1 else f"{name}-{i}") for i in range(1, 10_000))
    return next(each for each in tries if not each.exists())


@contextlib.contextmanager
def _interruptible() -> Iterator[list[int]]:
    """The first Ctrl-C, or SIGTERM, is remembered until the iteration is over; the second interrupts at once."""
    wanted: list[int] = []

    def remember(number: int, _: FrameType | None) -> None:
        if wanted:
            raise KeyboardInterrupt
        wanted.append(number)
        # Not through sys.stderr: it may have been interrupted while it writes, and refuses to be entered twice.
        with contextlib.suppress(OSError):
            os.write(2, b"\nstopping after this iteration; again to stop at once\n")

    if threading.current_thread() is not threading.main_thread():
        yield wanted  # only the main thread may set handlers
        return
    before = {each: signal.signal(each, remember) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield wanted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _print(summary: Summary) -> None:
    out = console(stderr=True)
    state = "interrupted after" if summary.interrupted else "trained for"
    pace = f"{clock(summary.seconds)}, {thousands(round(summary.steps_per_second))} steps/s"
    out.print(f"\n[bold]{summary.algorithm}[/] on {summary.env_id}: {state} {thousands(summary.steps)} steps ({pace})")
    if summary.returns is not None:
        out.print(f"  while training  {short(summary.returns)}, mean return of the last {_WINDOW} episodes or so")
    if summary.greedy:
        low, high = min(summary.greedy), max(summary.greedy)
        mean = sum(summary.greedy) / len(summary.greedy)
        out.print(f"  evaluated       {short(mean)}, {len(summary.greedy)} episodes from {short(low)} to {short(high)}")
    if summary.random is not None:
        out.print(f"  {summary.random.text}", markup=False)
        reached = sum(summary.greedy) / len(summary.greedy) if summary.greedy else summary.returns
        if reached is not None and reached <= summary.random.high:
            out.print("  no better than random, so far", style="yellow")
    if summary.folder is not None:
        again = (
            f"; go on with: rldebug train {summary.algorithm} --resume {summary.folder}" if summary.interrupted else ""
        )
        out.print(f"  kept in {summary.folder}{again}", markup=False, style="dim", soft_wrap=True)


def _plain(env_id: str) -> str:
    return "".join(each if each.isalnum() or each in "._-" else "-" for each in env_id)


def _number(value: Any) -> Any:
    return value if isinstance(value, int) or np.isfinite(value) else str(value)


def _plain_settings(settings: Any) -> dict[str, Any]:
    return dict(vars(settings)) if hasattr(settings, "__dict__") else {}
