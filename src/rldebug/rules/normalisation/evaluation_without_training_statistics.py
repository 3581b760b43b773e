"""The environment of the evaluation does not normalise by the statistics of training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.evaluated_inputs import given
from rldebug.forensics.worlds import Stream, evaluation_streams, fact, name_of, wrappers
from rldebug.rule import NotEnough, Rule

_LEAVE_OBSERVATIONS = {
    "AsyncVectorEnv", "DummyVecEnv", "HumanRendering", "Monitor", "OrderEnforcing", "PassiveEnvChecker",
    "RecordEpisodeStatistics", "RecordVideo", "SubprocVecEnv", "SyncVectorEnv", "TimeLimit", "VecMonitor",
    "VecTransposeImage", "VecVideoRecorder",
}  # fmt: skip
"""Wrappers through which observations go as they are."""

Normaliser = Mapping[str, Any]
_PLAYED = 3  # moments of the evaluation at which the statistics were looked at, steps in between


@dataclass(frozen=True, kw_only=True)
class EvaluationWithoutTrainingStatistics(Rule):
    """The evaluation does not normalise by the statistics of training.

    ## What it checks
    The environment that is learned from scales observations by running statistics (VecNormalize, NormalizeObservation).
    One of the same kind, that is only played, has no such layer, and the network is given what it shows as it comes;
    or it has one that never got those statistics: it has counted nothing but what it showed itself. Of a wrapper of the
    program's own: arrays of the shape of an observation, which move in training and never in the evaluation; or a
    number beside them, which in both is that of the observations that just this environment has shown.

    ## Why it matters
    The policy is judged on inputs that it was never trained on. The score is that of another policy: often a bad one,
    sometimes only a little worse, so that nobody looks.

    ## Likely causes
    1. `evaluate_policy` or an own loop is given an environment without the wrapper. Confirm: print the first
       observation of both.
    2. The wrapper is there, and nobody copied the statistics. Confirm: compare `obs_rms.mean` of both.
    3. They were not saved with the model. Confirm: look for `VecNormalize.load`.

    ## What to try first
    `VecNormalize.load(path, venv)`, then `training = False` and `norm_reward = False`; with Gymnasium, hand over
    `obs_rms` and set `update_running_mean = False`.

    ## When it is fine
    A world of which nobody learned with statistics has no need of them.

    ## References
    Bug kinds EVA-10 and CKP-05 of bench/bugs/sources.toml. Stable-Baselines3, *Vectorized environments*: VecNormalize.
    """

    code: ClassVar[str] = "NRM362"
    name: ClassVar[str] = "evaluation-without-training-statistics"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "evaluation"

    steps: int = 20  # of the evaluation
    rows: int = 20  # of it that the network was seen to be given
    raw: float = 0.98  # share of them that are as they were observed
    counted: float = 100.0  # observations of training, from which statistics are some
    moved: float = 0.1  # deviations of training that a mean must be away, or share by which a variance must differ

    def check(self, evidence: Script) -> Iterator[Finding]:
        chosen = evaluation_streams(evidence)
        played = [each for each in evidence.streams if int(each["index"]) in chosen and each["steps"] > self.steps]
        notes = [each["environments"] for each in evidence.noted("normalisers")]
        trained = [each for each in evidence.streams if int(each["index"]) not in chosen and each.get("learned")]
        if not played or not trained:
            raise NotEnough("no evaluation in an environment of its own was seen")
        for mine in trained:
            for test in played:
                if not all(fact(mine, name) == fact(test, name) for name in ("class", "obs_shape")):
                    continue
                both = [(_of(each, mine), _of(each, test)) for each in notes]
                seen = self._none(evidence, mine, test, both) or self._own(test, both)
                seen = seen or self._still(mine, test, evidence.noted("normalisers"))
                seen = seen or self._counted(mine, test, evidence.noted("normalisers"))
                if seen:
                    yield self.finding(
                        "the evaluation does not normalise observations by the statistics of training",
                        seen=seen,
                        expected="the same layer in both, and in the evaluation the statistics of training, held still",
                        help="hand the statistics of training over to the environment of the evaluation",
                        confidence=0.93,
                    )
                    return

    def _none(self, script: Script, mine: Stream, test: Stream, both: list[Any]) -> str:
        """The environment of the evaluation shows what comes, and the network is given that."""
        ours = [each for each, _ in both if each is not None and (each["count"] or 0) >= self.counted]
        if not ours or any(theirs is not None for _, theirs in both):
            return ""
        if set(wrappers(test)) - _LEAVE_OBSERVATIONS - set(wrappers(mine)) or ours[-1]["what"] in wrappers(test):
            return ""  # one of their own, which may know the statistics
        inputs = [each for each in given(script)[1] if len(each.obs) >= self.rows]
        if not inputs or any(each.raw < self.raw for each in inputs):
            return ""
        layers = ", ".join(wrappers(test)) or "no wrapper"
        return (
            f"{ours[-1]['what']} around {name_of(mine)} in training; around the one that {test['steps']} steps were "
            f"played in: {layers}"
        )

    def _own(self, test: Stream, both: list[Any]) -> str:
        """It has counted what it showed itself, and nothing else."""
        pairs = [(ours, theirs) for ours, theirs in both if ours is not None and theirs is not None]
        if not pairs:
            return ""
        ours, theirs = pairs[-1]
        shown = int(test["steps"]) + int(test.get("resets") or 0) * int(test.get("lanes") or 1) + 2
        if ours["kept"] == theirs["kept"] or ours["count"] is None or theirs["count"] is None:
            return ""
        if ours["count"] < self.counted or theirs["count"] > min(shown, ours["count"] / 2):
            return ""
        if not self._differ(ours, theirs):
            return ""
        return (
            f"{theirs['what']} of the evaluation has counted {theirs['count']:.0f} observations, all of them its own; "
            f"that of training {ours['count']:.0f}"
        )

    def _still(self, mine: Stream, test: Stream, notes: Sequence[Normaliser]) -> str:
        """A layer of the program's own: its arrays move in training, and never in the evaluation while that is played.

        Where the one of the evaluation kept what it saw last, or counted by itself, it would have moved.
        """
        found: dict[tuple[str, str], list[tuple[Normaliser, Normaliser]]] = {}
        for note in notes:
            theirs = {(each["what"], each["path"]): each for each in note.get("own") or () if _is(each, test)}
            for each in note.get("own") or ():
                if _is(each, mine) and (other := theirs.get((each["what"], each["path"]))) is not None:
                    found.setdefault((each["what"], each["path"]), []).append((each, other))
        for (what, path), pairs in found.items():
            if any(ours["kept"] == theirs["kept"] for ours, theirs in pairs):
                continue
            if pairs[-1][0]["steps"] < self.counted or len({theirs["steps"] for _, theirs in pairs}) < _PLAYED:
                continue
            still = [
                name
                for name in pairs[-1][0]["arrays"]
                if len({str(ours["arrays"].get(name)) for ours, _ in pairs}) > len(pairs) / 2
                and len({str(theirs["arrays"].get(name)) for _, theirs in pairs}) == 1
                and pairs[0][1]["arrays"].get(name) not in [None, *(ours["arrays"].get(name) for ours, _ in pairs)]
            ]
            if len(still) > 1:
                return (
                    f"{' and '.join(f'{path}.{each}'.strip('.') for each in still)} of {what} move in training, and in "
                    f"the evaluation have stayed as they were made for {pairs[-1][1]['steps']} steps"
                )
        return ""

    def _counted(self, mine: Stream, test: Stream, notes: Sequence[Normaliser]) -> str:
        """A layer of the program's own that counts what it shows, after steps and after resets, and keeps arrays by
        that. The one of the evaluation has counted nothing but its own."""
        pairs = [
            (ours, theirs)
            for note in notes
            for ours in note.get("own") or ()
            for theirs in note.get("own") or ()
            if _is(ours, mine) and _is(theirs, test) and all(ours[name] == theirs[name] for name in ("what", "path"))
        ]
        if not pairs or any(ours["kept"] == theirs["kept"] for ours, theirs in pairs):
            return ""
        ours, theirs = pairs[-1]
        if int(theirs["steps"]) < self.steps:
            return ""
        before = [each for note in notes for each in note.get("own") or () if each["kept"] == ours["kept"]]
        for name, count in (ours.get("counts") or {}).items():
            other = (theirs.get("counts") or {}).get(name)
            if other is None or count < max(self.counted, 2 * other) or min(_resets(ours), _resets(theirs)) < 2:
                continue
            if not all(_shown(each) == _near(each, name) for each in [*before, theirs]):
                continue
            if all(ours["arrays"].get(each) != theirs["arrays"].get(each) for each in ours["arrays"]):
                where = f"{ours['path']}.{name}".strip(".")
                return (
                    f"{where} of {theirs['what']} says {other:.0f} in the evaluation, all of them observations of its "
                    f"own; in training {count:.0f}"
                )
        return ""

    def _differ(self, ours: Normaliser, theirs: Normaliser) -> bool:
        if ours["mean"] is None or theirs["mean"] is None or len(ours["mean"]) != len(theirs["mean"]):
            return False
        spread = np.maximum(np.sqrt(ours["var"]), 1e-6)
        away = np.abs(np.subtract(ours["mean"], theirs["mean"])) / spread
        apart = np.abs(np.log(np.maximum(theirs["var"], 1e-12) / np.square(spread)))
        return bool((away > self.moved).any() or (apart > self.moved).any())


def _is(told: Normaliser, stream: Stream) -> bool:
    return bool(told["stream"] == stream["index"])


def _resets(told: Normaliser) -> int:
    return int(told.get("resets") or 0)


def _shown(told: Normaliser) -> int:
    return int(told["steps"]) + _resets(told)


def _near(told: Normaliser, name: str) -> int:
    """The count, as the observations that were shown where it is off by little: the newest may be on its
    way."""
    count = (told.get("counts") or {}).get(name, -1.0)
    return _shown(told) if abs(count - _shown(told)) < 2 else -1


def _of(environments: list[Normaliser], stream: Stream) -> Normaliser | None:
    return next((each for each in environments if each["stream"] == stream["index"]), None)
