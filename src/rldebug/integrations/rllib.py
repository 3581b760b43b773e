"""RLlib, its new API stack: a callback that watches an Algorithm from `build_algo()` to `stop()`.

    config.callbacks(RLDebugCallback)
    config.callbacks(functools.partial(RLDebugCallback, run="mine", report_every=5))

The process that learns is the one to be watched. Where that is the Algorithm's own (`num_learners=0`) all is seen
there; learners that are actors are watched too, each into a folder below the run's. Episodes that env runners have
played in other processes are told to the one that learns from them, as if they were played there.
"""

from __future__ import annotations

import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rldebug.attach import Attached, attach
from rldebug.capture import session as sessions
from rldebug.capture.children import FOLDER
from rldebug.capture.env_facts import facts_of
from rldebug.child import watch
from rldebug.finding import Report

try:
    from ray.rllib.callbacks.callbacks import RLlibCallback
    from ray.rllib.env.single_agent_episode import SingleAgentEpisode
except ImportError as error:
    raise ImportError(
        f"rldebug.integrations.rllib needs Ray's RLlib, which cannot be imported here ({error}): "
        "pip install 'rldebug[rllib]'"
    ) from error

_SETTINGS = (
    "gamma", "lambda_", "lr", "clip_param", "vf_clip_param", "vf_loss_coeff", "entropy_coeff", "kl_coeff", "grad_clip",
    "num_epochs", "minibatch_size", "train_batch_size_per_learner", "n_step", "tau", "target_network_update_freq",
    "double_q", "dueling", "num_env_runners", "num_envs_per_env_runner", "num_learners", "seed",
)  # fmt: skip


class RLDebugCallback(RLlibCallback):  # type: ignore[misc,unused-ignore]
    """Watches from the end of `build_algo()` on, and tells what it found when the Algorithm is stopped.

    run            what the run is called; it is kept in `folder/run`
    report_every   iterations after which what was found so far is said, a line each; 0: at the end alone
    options        those of `rldebug.attach`: folder, select, ignore, overhead_budget, quiet, …
    """

    def __init__(self, run: str = "rllib", *, report_every: int = 0, **options: Any) -> None:
        super().__init__()
        if report_every < 0:
            raise ValueError(f"RLDebugCallback(report_every=...) got {report_every}, expected iterations, or 0")
        self.run, self.report_every, self.options = run, report_every, options
        self.attached: Attached | None = None
        self.report: Report | None = None  # when the Algorithm was stopped
        self._iterations = 0
        self._said: set[str] = set()

    def on_algorithm_init(self, *, algorithm: Any, **kwargs: Any) -> None:
        if not getattr(algorithm.config, "enable_env_runner_and_connector_v2", False):
            raise ValueError(
                "RLDebugCallback expects RLlib's new API stack, and this config has "
                "enable_env_runner_and_connector_v2=False; `rldebug run` watches programs of the old one"
            )
        self.attached = attached = attach(self.run, **self.options)
        attached.declare(library="rllib", algorithm=type(algorithm).__name__.lower(), **settings_of(algorithm.config))
        _sandboxed("episodes of other processes", tell_what_others_play, algorithm)
        _sandboxed("learners in other processes", watch_learners, algorithm, attached.path)
        cleanup = algorithm.cleanup

        def clean_up() -> None:
            _sandboxed("learners in other processes", leave_learners, algorithm)
            try:
                cleanup()
            finally:
                self.report = attached.close()

        algorithm.cleanup = clean_up

    def on_train_result(self, *, algorithm: Any, result: dict[str, Any], **kwargs: Any) -> None:
        self._iterations += 1
        if self.attached is None or not self.report_every or self._iterations % self.report_every:
            return
        report = self.attached.report()
        for each in report.roots:
            if each.severity != "note" and each.code not in self._said:
                self._said.add(each.code)
                print(f"rldebug: {each.severity}[{each.code}] {each.message} ({each.where})", file=sys.stderr)
        result["rldebug"] = {"findings": sum(each.severity != "note" for each in report.roots)}


def settings_of(config: Any) -> dict[str, Any]:
    found = {name: getattr(config, name, None) for name in _SETTINGS}
    return {name: each for name, each in found.items() if isinstance(each, (bool, int, float, str))}


# ── what env runners in other processes have played ─────────────────────────────────────────────────────────────────


def tell_what_others_play(algorithm: Any) -> None:
    """Env runners are actors, and the learner is here: what they send comes through one call."""
    group, config = algorithm.env_runner_group, algorithm.config
    if group is None or not config.num_env_runners or config.num_learners:
        return
    played = Played(_facts(algorithm), config.num_env_runners * config.num_envs_per_env_runner)
    original = group.foreach_env_runner

    def foreach_env_runner(*args: Any, **kwargs: Any) -> Any:
        results = original(*args, **kwargs)
        _sandboxed("episodes of other processes", played.tell, results)
        return results

    group.foreach_env_runner = foreach_env_runner


def _facts(algorithm: Any) -> dict[str, Any]:
    elsewhere = bool(algorithm.config.num_env_runners)
    told = algorithm.env_runner_group.foreach_env_runner(facts_of_runner, local_env_runner=not elsewhere)
    return next((each for each in told if each), {})


def facts_of_runner(runner: Any) -> dict[str, Any]:
    """In its own process: what its environment says of itself, as plain data."""
    try:
        return {**facts_of(runner.env), "worlds": []}  # those are addresses in that process
    except Exception:
        return {}


class Played:
    """Episodes of other processes, told to the log of this one. Whatever is played at a time is a stream of its own."""

    def __init__(self, facts: dict[str, Any], at_a_time: int) -> None:
        self.facts, self.at_a_time = facts, max(at_a_time, 1)
        self._under_way: OrderedDict[str, Lane] = OrderedDict()
        self._free: list[Lane] = []

    def tell(self, results: Any) -> None:
        """What a call of all env runners has returned; other things than episodes are passed over."""
        if isinstance(results, SingleAgentEpisode):
            self._episode(results)
        elif isinstance(results, (list, tuple)):
            for each in results:
                self.tell(each)

    def _episode(self, episode: Any) -> None:
        session = sessions.current()
        if session is None or not len(episode):
            return
        log, done = session.told, bool(episode.is_done)
        observations, actions = _rows(episode.get_observations()), _rows(episode.get_actions())
        rewards = np.asarray(episode.get_rewards(), dtype=np.float64)
        lane = self._under_way.pop(episode.id_, None)
        if lane is None:
            lane = self._lane(log)
            log.reset(lane, observations[0], None, 1)
        for at, (action, reward) in enumerate(zip(actions, rewards, strict=True)):
            last = done and at == len(rewards) - 1
            ended, cut = last and bool(episode.is_terminated), last and bool(episode.is_truncated)
            log.step(lane, action, observations[at + 1], float(reward), ended, cut, None)
        if done:
            self._free.append(lane)
        else:
            self._under_way[episode.id_] = lane

    def _lane(self, log: Any) -> Lane:
        if self._free:
            return self._free.pop(0)
        if len(self._under_way) >= self.at_a_time:
            return self._under_way.popitem(last=False)[1]  # thrown away by its env runner, unfinished
        lane = Lane()
        log.new(lane, "rllib-episodes", 1, "disabled", dict(self.facts))
        return lane


class Lane:
    """Stands for an environment in another process."""


def _rows(batch: Any) -> Any:
    """One by one; of a dictionary of arrays, a dictionary each."""
    if isinstance(batch, dict):
        columns = {name: _rows(each) for name, each in batch.items()}
        count = min(map(len, columns.values()), default=0)
        return [{name: each[at] for name, each in columns.items()} for at in range(count)]
    if isinstance(batch, tuple):
        return list(zip(*map(_rows, batch), strict=False))
    return batch


# ── learners in other processes ─────────────────────────────────────────────────────────────────────────────────────

_ends: list[Callable[[], None]] = []  # in a learner's own process


def watch_learners(algorithm: Any, folder: Path) -> None:
    group = algorithm.learner_group
    if group is None or not group.is_remote:
        return
    budget = sessions.Options().overhead_budget
    replayed = getattr(algorithm, "local_replay_buffer", None) is not None
    facts = {} if algorithm.env_runner_group is None else _facts(algorithm)
    for number in range(len(group)):
        given = (str(folder.absolute() / FOLDER / f"{number:02d}"), budget, ())
        with_it = {"given": given, "facts": facts, "replayed": replayed}
        for each in group.foreach_learner(begin_in_learner, remote_actor_ids=[number], **with_it):
            if not each.ok:
                raise each.get()


def leave_learners(algorithm: Any) -> None:
    group = algorithm.learner_group
    if group is not None and group.is_remote:
        group.foreach_learner(end_in_learner)


def begin_in_learner(learner: Any, given: Any, facts: dict[str, Any], replayed: bool) -> None:
    """In its own process. Episodes are told as they come, unless they come from replay: those are in pieces."""
    _ends.append(watch(given, late=True))
    if replayed:
        return
    played, original = Played(facts, 256), learner._make_batch_if_necessary

    def make_batch(training_data: Any) -> Any:
        _sandboxed("episodes of other processes", played.tell, training_data.episodes)
        return original(training_data=training_data)

    learner._make_batch_if_necessary = make_batch


def end_in_learner(learner: Any) -> None:
    vars(learner).pop("_make_batch_if_necessary", None)
    while _ends:
        _ends.pop()()


def _sandboxed(what: str, call: Callable[..., Any], *args: Any) -> None:
    """What goes wrong here is listed with what is broken; the training goes on."""
    try:
        call(*args)
    except Exception:
        session = sessions.current()
        if session is not None:
            session.switch.broken.setdefault(f"integrations/rllib: {what}", traceback.format_exc())
