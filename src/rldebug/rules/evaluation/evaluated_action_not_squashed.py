"""The evaluation executes the mean as it is, where training squashes what it draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, calls_of
from rldebug.forensics.roles import roles_of
from rldebug.forensics.squashing import is_squashed
from rldebug.forensics.worlds import Stream, evaluation_calls, fact, wrappers
from rldebug.rule import NotEnough, Rule

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class EvaluatedActionNotSquashed(Rule):
    """The evaluation executes the mean without the tanh that training has.

    ## What it checks
    In training a number is drawn around what the network says, and its tanh is executed, stretched to the bounds or
    not. In an evaluation what the network says is executed itself, cut off at the bounds at most, and not its tanh.
    Each is seen in the numbers, down to rounding.

    ## Why it matters
    Another policy is scored than the one that was trained: where the mean is large the action lies at the bound or
    beyond it.

    ## Likely causes
    1. The branch for deterministic actions returns `mean` and not `tanh(mean)`. Confirm: read what the method that the
       evaluation calls returns.
    2. The squashing is done where actions are sampled, and not in a function that both ways go through. Confirm: the
       same.

    ## What to try first
    `return torch.tanh(mean) * scale + bias`.

    ## When it is fine
    Where the environment of the evaluation squashes actions itself.

    ## References
    Haarnoja et al. 2018, *Soft Actor-Critic*, appendix C.
    """

    code: ClassVar[str] = "EVA530"
    name: ClassVar[str] = "evaluated-action-not-squashed"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "evaluation"

    audits: int = 2  # in which executed actions are squashed
    numbers: int = 24  # of the evaluation by which the two can be told apart
    apart: float = 1e-4  # by which a number must differ from its tanh; actions are known to a tenth of that
    exact: float = 0.95  # share of them that were executed as they are

    def check(self, evidence: Script) -> Iterator[Finding]:
        stream = roles_of(evidence).stream
        mine = next((each for each in evidence.streams if int(each["index"]) == stream), {})
        played = evaluation_calls(evidence)
        tests = [each for each in played if _like(evidence, each, mine)]
        if not tests:
            raise NotEnough("no evaluation in an environment like that of training was seen")
        if sum(is_squashed(evidence, audit) for audit in evidence.audits) < self.audits:
            raise NotEnough("executed actions were not seen to be squashed in training")
        known = {id(each) for each in played}
        trained = [each for each in calls_of(evidence) if each.event.get("acting") and id(each) not in known]
        most = 0
        for module in sorted({each.module for each in tests}):
            own = [each for each in tests if each.module == module]
            for place in range(3):
                if not _is_mean([each for each in trained if each.module == module], place):
                    continue
                said, done = _followed(own, place)
                told = np.abs(said - np.tanh(said)) > self.apart
                most = max(most, int(told.sum()))
                if told.sum() < self.numbers or _share(np.tanh(said), done, told, mine) > 1.0 - self.exact:
                    continue
                share = _share(said, done, told, mine)
                if share >= self.exact:
                    yield self.finding(
                        "the evaluation executes the mean of the policy without its tanh",
                        where=own[0].event.where,
                        seen=f"what {module} says is executed as it is in {share:.0%} of {int(told.sum())} numbers of "
                        f"the evaluation, up to {np.abs(said).max():.3g}; in training the tanh of what is drawn around "
                        "it is",
                        expected="the tanh of the mean, as in training",
                        help="return torch.tanh(mean) for the deterministic action",
                        confidence=0.95,
                    )
                    return
        if most < self.numbers:
            raise NotEnough(f"{most} numbers of an evaluation that differ from their tanh, needs {self.numbers}")


def _like(script: Script, call: Call, mine: Stream) -> bool:
    places = call.places[call.known]
    index = int(call.audit.nodes.stream[places[0]]) if len(places) else -1
    own = next((each for each in script.streams if int(each["index"]) == index), None)
    if own is None or any(fact(own, each) != fact(mine, each) for each in ("class", "action_low", "action_high")):
        return False
    return _changing(own) == _changing(mine)


def _changing(stream: Stream) -> list[str]:
    """Wrappers without those that only put several environments side by side."""
    return [each for each in wrappers(stream) if not each.endswith(("VectorEnv", "VecEnv"))]


def _said(call: Call, place: int) -> Array | None:
    """One row for each row of the call: the output, or its first half, if the other is that of deviations."""
    output, rows = call.event.arrays.get(f"output{place}"), call.event.arrays.get("rows")
    if output is None or rows is None or output.ndim != 2 or len(output) != len(rows):
        return None
    orders = call.event.arrays.get("orders")
    mine = orders == call.order if orders is not None and len(orders) == len(rows) else slice(None)
    wide, size = output.shape[1], call.audit.nodes.action.shape[1]
    return np.asarray(output[mine, :size], dtype=np.float64) if wide in (size, 2 * size) else None


def _is_mean(calls: Sequence[Call], place: int) -> bool:
    """Whether what is drawn while the program acts is drawn around this output."""
    rows = drawn = 0
    for audit in {id(each.audit): each.audit for each in calls}.values():
        said = [each for call in calls if call.audit is audit and (each := _said(call, place)) is not None]
        if not said:
            continue
        out = np.concatenate(said)
        means = [
            np.asarray(event.arrays["params"][:, : out.shape[1]], dtype=np.float32)
            for event in audit.of("sample")
            if event.get("dist") in ("Normal", "Independent", "MultivariateNormal") and "params" in event.arrays
            and event.arrays["params"].ndim == 2 and event.arrays["params"].shape[1] > out.shape[1]
        ]  # fmt: skip
        known = {each.tobytes() for mean in means for each in mean}
        rows += len(out)
        drawn += sum(each.tobytes() in known for each in out.astype(np.float32))
    return rows >= 8 and drawn >= 0.5 * rows


def _followed(calls: Sequence[Call], place: int) -> tuple[Array, Array]:
    """What was said, and what was executed then: (steps, elements)."""
    said, done = [], []
    for call in calls:
        out, nodes = _said(call, place), call.audit.nodes
        if out is None or len(out) != len(call.places):
            continue
        keep = (call.places >= 0) & np.where(call.places >= 0, nodes.acted[call.places], False)
        keep &= np.isfinite(np.where(keep[:, None], nodes.action[call.places], 0.0)).all(axis=1)
        said.append(out[keep])
        done.append(np.asarray(nodes.action[call.places[keep]], dtype=np.float64))
    return (np.concatenate(said), np.concatenate(done)) if said else (np.empty((0, 1)), np.empty((0, 1)))


def _share(out: Array, done: Array, told: NDArray[np.bool_], stream: Stream) -> float:
    """Of the numbers that tell: how many were executed so, stretched to the bounds or not, cut off there or not."""
    forms = [out]
    bounds = [fact(stream, name) or [] for name in ("action_low", "action_high")]
    low, high = (np.ravel(np.array(each, dtype=np.float64)) for each in bounds)
    if len(low) == len(high) == out.shape[1] and np.isfinite([*low, *high]).all():
        forms.append((high + low) / 2 + out * (high - low) / 2)
        forms += [np.clip(each, low, high) for each in forms]
    return max(float((np.abs(each - done)[told] <= 1e-5 * (1 + np.abs(done[told]))).mean()) for each in forms)
