"""The evaluation plays random actions among the greedy ones, or adds noise to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call
from rldebug.forensics.roles import roles_of
from rldebug.forensics.unasked import unasked
from rldebug.forensics.worlds import evaluation_calls
from rldebug.rule import NotEnough, Rule

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class EvaluationExplores(Rule):
    """The evaluation explores.

    ## What it checks
    In environments that are never learned from, the action that was executed beside what the network said there. With
    values of actions: another than the best was executed, and as often the worst as any other. With a network that
    gives the action itself: executed actions do not follow its output, as they would under any scaling or squashing.
    Or no network is asked at all in some steps, here and there between the others.

    ## Why it matters
    The score is that of the exploring policy. It is lower than that of what was learned, and compares runs by how much
    they explore.

    ## Likely causes
    1. The function that chooses actions in training is used with its exploration on. Confirm: look for ε or noise in
       what the evaluation calls.
    2. The flag for deterministic actions is not handed on. Confirm: print it where the action is chosen.

    ## What to try first
    In the evaluation, execute the best action, without noise.

    ## When it is fine
    A little randomness is customary with Atari games (ε = 0.05), and is not counted. Policies that are distributions
    may be evaluated by sampling.

    ## References
    Machado et al., *Revisiting the Arcade Learning Environment*.
    Seen in the wild: EVA-01 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "EVA304"
    name: ClassVar[str] = "evaluation-explores"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "evaluation"

    steps: int = 60  # of the evaluation
    other: float = 0.1  # share of actions that are not the best one
    unasked: float = 0.06  # share of steps without a network, just above the 0.05 that are customary
    always: float = 0.9  # share above which the choice is not random, but another one
    explained: float = 0.2  # share of the noise that observations explain: then it is none
    disorder: float = 0.25  # share of neighbours in the output whose actions are in the other order; noise gives half

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = unasked(evidence)
        if found is not None and self._by_chance(found.unasked, found.steps):
            yield self.finding(
                "the evaluation explores",
                where=found.event.where,
                seen=f"no network was asked in {found.unasked} of {found.steps} steps of the evaluation, here and "
                f"there among the others, up to update {found.update}",
                expected="the action that the network says is best",
                help="switch exploration off in the evaluation",
                confidence=0.85,
            )
            return
        calls = evaluation_calls(evidence)
        by_module: dict[str, list[Call]] = {}
        for each in calls:
            by_module.setdefault(each.module, []).append(each)
        most = 0
        for module, acted in by_module.items():
            last = max(each.update for each in acted)
            pairs = _pairs(acted)
            most = max(most, len(pairs[0]))
            if len(pairs[0]) < self.steps:
                continue
            seen = self._random(evidence, module, *pairs) or self._noisy(evidence, module, *pairs)
            if seen:
                yield self.finding(
                    "the evaluation explores",
                    where=acted[0].event.where,
                    seen=f"{seen} in {len(pairs[0])} steps of the evaluation, up to update {last}",
                    expected="the action that the network says is best",
                    help="switch exploration off in the evaluation",
                    confidence=0.85,
                )
                return
        if most < self.steps:
            raise NotEnough(f"a network was seen to choose the action of {most} steps of an evaluation")

    def _by_chance(self, random: int, steps: int) -> bool:
        share = random / max(steps, 1)
        spread = 3 * np.sqrt(share * (1 - share) / max(steps, 1))
        return steps >= self.steps and self.unasked < share - spread and share <= self.always

    def _random(self, script: Script, module: str, said: Array, done: Array, obs: Array) -> str:
        roles = roles_of(script)
        return "" if module not in roles.q or roles.policy or done.shape[1] != 1 else self._not_best(said, done)

    def _not_best(self, said: Array, done: Array) -> str:
        count = said.shape[1]
        if count < 2 or (done[:, 0] >= count).any():
            return ""
        ranks = (said > np.take_along_axis(said, done.astype(np.int64), axis=1)).sum(axis=1)
        wrong = ranks > 0
        share = float(wrong.mean())
        if share - 3 * np.sqrt(share * (1 - share) / len(wrong)) < self.other or share > self.always:
            return ""  # always another one: the lowest is best here, or numbers of actions are translated
        best = said.argmax(axis=1)
        for each in np.unique(best):
            taken = np.bincount(done[best == each, 0].astype(np.int64), minlength=count)
            if taken.argmax() != each and taken.max() > 0.8 * taken.sum():
                return ""  # translated
        # Where some actions are forbidden the best one that is allowed is taken: hardly ever the worst of all.
        if count > 2 and float((ranks[wrong] == count - 1).mean()) < 0.6 / (count - 1):
            return ""
        return f"another action than the one of the highest value was executed in {share:.0%} of cases"

    def _noisy(self, script: Script, module: str, said: Array, done: Array, obs: Array) -> str:
        """A network that gives the action itself: whatever is done to it afterwards keeps the order of outputs."""
        roles = roles_of(script)
        if module not in roles.policy or said.shape[1] != done.shape[1] or _stochastic(script, module):
            return ""
        for element in range(done.shape[1]):
            action, output = done[:, element], said[:, element]
            inside = (action > action.min()) & (action < action.max())  # clipped ones are equal
            if inside.sum() < self.steps or len(np.unique(output[inside])) < 0.5 * inside.sum():
                return ""
            steps = np.diff(action[inside][np.argsort(output[inside])])
            steps = steps * np.sign(np.corrcoef(action[inside], output[inside])[0, 1] or 1.0)
            if float((steps < -1e-6).mean()) < self.disorder:
                return ""
            rest = action[inside] - np.polyval(np.polyfit(output[inside], action[inside], 3), output[inside])
            if _explained(rest, obs[inside]) > self.explained:
                return ""  # by what is seen: something is added to the output on purpose
        return "executed actions do not follow the output of the network"


def _explained(rest: Array, obs: Array) -> float:
    """Share of the variance that observations explain, less what they would by chance."""
    columns = np.column_stack([np.ones(len(obs)), np.nan_to_num(obs)])
    if not obs.shape[1] or len(rest) < 3 * columns.shape[1] or not rest.var():
        return 1.0  # not known
    left = rest - columns @ np.linalg.lstsq(columns, rest, rcond=None)[0]
    return float(1 - left.var() / rest.var() - (columns.shape[1] - 1) / (len(rest) - 1))


def _stochastic(script: Script, module: str) -> bool:
    """Whether it is the policy of a distribution: something is drawn from one, or a log-prob is in its loss."""
    if any(True for _ in script.events("sample")) or any(True for _ in script.events("logp")):
        return True
    for _, term in script.events("term"):
        if module in (term.get("reached") or ()) and (term["kind"] != "output" or "log" in str(term.get("op"))):
            return True
    return False


def _pairs(calls: Sequence[Call]) -> tuple[Array, Array, Array]:
    """What the network said, what was executed, and what was seen; one call for one action."""
    said: list[Array] = []
    done: list[Array] = []
    obs: list[Array] = []
    for call in calls:
        output, rows = call.event.arrays.get("output0"), call.event.arrays.get("rows")
        if output is None or rows is None or output.ndim != 2 or len(output) != len(rows):
            continue
        orders = call.event.arrays.get("orders")
        mine = np.ones(len(rows), bool) if orders is None or len(orders) != len(rows) else orders == call.order
        if int(mine.sum()) != 1 or len(call.rows) != 1:
            continue  # several lanes: fine, but single ones are surer
        place = int(call.audit.nodes.index(call.rows)[0])
        if place < 0 or not call.audit.nodes.acted[place] or call.audit.nodes.phantom[place]:
            continue
        action = call.audit.nodes.action[place]
        if np.isfinite(action).all() and np.isfinite(output[mine][0]).all():
            said.append(np.asarray(output[mine][0], dtype=np.float64))
            done.append(np.asarray(action, dtype=np.float64))
            obs.append(np.asarray(call.audit.nodes.obs[place], dtype=np.float64))
    widths = {(len(a), len(b), len(c)) for a, b, c in zip(said, done, obs, strict=True)}
    if len(widths) != 1:
        return np.empty((0, 1)), np.empty((0, 1)), np.empty((0, 1))
    return np.stack(said), np.stack(done), np.stack(obs)
