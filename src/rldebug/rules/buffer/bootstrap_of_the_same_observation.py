"""The target is bootstrapped from the observation itself, not from the next one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import recurrent
from rldebug.forensics.bootstraps import by_prediction, without_gradient
from rldebug.forensics.goals import asked, copied, same_inputs
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class BootstrapOfTheSameObservation(Rule):
    """The target is bootstrapped from the observation itself.

    ## What it checks
    Each row of a Q-regression is traced back to its environment step, and so are the rows of the networks that are
    called without gradients in the same update. Those calls are on the very observations that are predicted, and no
    call of the update is on observations that come later. Observations that occurred more than once are left out.

    ## Why it matters
    The target is r + γ Q(s, ·) in place of r + γ Q(s', ·): where an action leads to is never learned.

    ## Likely causes
    1. The observation is stored twice: as itself, and as the next one. Confirm: compare both columns of a sampled
       batch.
    2. `obs = next_obs` comes before the transition is stored. Confirm: look at the order of these two lines.
    3. The wrong column of the batch is handed to the target network. Confirm: read the line of the call.

    ## What to try first
    `assert not np.array_equal(batch.obs, batch.next_obs)` where the batch is drawn.

    ## When it is fine
    A regression on rewards alone needs no next observation, and calls no network for its target. Networks with a memory
    are not judged: they are asked about whole sequences, and the answers are shifted.

    ## References
    Seen in the wild: ENV-06, BUF-03 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF302"
    name: ClassVar[str] = "bootstrap-of-the-same-observation"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "again"
    follows: ClassVar[tuple[str, ...]] = ("BUF306",)

    batches: int = 3  # that can be judged
    same: float = 0.95  # share of rows that are the predicted observation itself
    later: float = 0.3  # share of rows of a call that come later: the next observations are there

    def check(self, evidence: Script) -> Iterator[Finding]:
        own = [
            each for each in fit_targets(evidence) if each.what == "q" and each.mistake == "own" and each.audits >= 2
        ]
        for fit in own:
            yield self.finding(
                "the target is bootstrapped from the observation itself",
                where=fit.where,
                seen=f"{fit.share:.0%} of {fit.rows} targets are the reward plus {fit.gamma:.4g} times what a network "
                "says of the observation that is predicted",
                expected="the observation that the step led to",
                help="store the observation that env.step returns as the next one, before obs is replaced by it",
                confidence=0.97,
            )
        if own:
            return
        # Whoever is asked about a sequence at once has the next observation in it: its answers are shifted.
        batches = [
            each for each in asked(evidence) if not copied(each) and not recurrent(evidence, each.predicting.module)
        ]
        alike = [each for each in batches if same_inputs(each)]
        if (
            len(batches) >= self.batches
            and len(alike) == len(batches)
            and len({each.audit.number for each in alike}) > 1
        ):
            yield self.finding(
                "the target is bootstrapped from the observation itself",
                where=alike[0].others[0].event.where,
                seen=f"in all of {len(alike)} batches the networks that make the target are given the very rows that "
                "are predicted, and no others",
                expected="the observation that the step led to",
                help="give the next observations to the target network",
                confidence=0.97,
            )
            return
        judged = wrong = rows = 0
        audits: set[int] = set()
        where: Event | None = None
        for _, pairs in by_prediction(evidence):
            if any(recurrent(evidence, each.call.module) for each in pairs):
                continue
            judged += 1
            if any(each.later >= self.later for each in pairs):
                continue
            same = [each for each in pairs if without_gradient(evidence, each.call) and each.same >= self.same]
            if same:
                wrong += 1
                rows += same[0].size
                audits.add(same[0].audit.number)
                where = where or same[0].call.event
        if judged < self.batches:
            raise NotEnough(f"{judged} batches of a Q-regression could be traced to the environment")
        if where is not None and wrong == judged and len(audits) > 1:
            yield self.finding(
                "the target is bootstrapped from the observation itself",
                where=where.where,
                seen=f"in {wrong} of {judged} batches ({rows} rows) the networks that make the target see the "
                "observations "
                "that are predicted, and none that come later",
                expected="the observation that the step led to",
                help="store the observation that env.step returns as the next one, before obs is replaced by it",
                confidence=0.97,
            )
